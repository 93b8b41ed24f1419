/**
 * Partition keys as SQL over a value whose type is known only at run time: it may differ from block to block, and
 * between the sides of a join. Values that are equal in SQL have the same hash, whatever their types, and the order of
 * the key's parts is exactly the order of the values. The kernel knows the type when it plans the query, and leaves out
 * the branches for other types. docs/decisions/0011-exact-keys.md says why, and for which types.
 */

const WHOLE = "U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER";
const FLOAT = "FLOAT|DOUBLE";
const DECIMAL = "DECIMAL\\(.*\\)";
const MOMENT = "DATE|TIMESTAMP(_S|_MS|_NS)?|TIMESTAMP WITH TIME ZONE";
const CLOCK = "TIME|TIME_NS";
/** Types whose values travel to another task as text. */
const TEXT = "VARCHAR|UUID|JSON|ENUM\\(.*\\)|BIT|BIGNUM|TIME WITH TIME ZONE";
const LIST = "\\[[0-9]*\\]";

const is = (value: string, types: string) => `regexp_matches(typeof(${value}), '^(${types})$')`;
const as = (value: string, type: string) => `TRY_CAST(${value} AS ${type})`;

type Branch = readonly [types: string, sql: string];

function byType(value: string, branches: readonly Branch[], otherwise: string): string {
  const whens = branches.map(([types, sql]) => `WHEN ${is(value, types)} THEN ${sql}`);
  return `CASE ${whens.join(" ")} ELSE ${otherwise} END`;
}

/**
 * Numbers of all types are hashed as DOUBLE, to which the kernel converts equal values alike; times as nanoseconds;
 * texts as texts.
 */
export function hashKey(value: string): string {
  const lists = (types: string, type: string): Branch => [`(${types})${LIST}`, `hash(${as(value, `${type}[]`)})`];
  return byType(
    value,
    [
      [`${WHOLE}|${FLOAT}|${DECIMAL}`, `hash(${as(value, "DOUBLE")})`],
      ...moments(value).map(([types, sql]): Branch => [types, `hash(${sql})`]),
      [TEXT, `hash(CAST(${value} AS VARCHAR))`],
      lists(`${WHOLE}|${FLOAT}|${DECIMAL}`, "DOUBLE"),
      lists(MOMENT, "TIMESTAMP"),
      lists(TEXT, "VARCHAR"),
    ],
    `hash(${value})`,
  );
}

/**
 * The parts of a key in the order of ORDER BY. A number is the DOUBLE next to it and the remainder beyond that, so that
 * 2^53 + 1 is above 2^53, and 5 equals 5.0.
 */
export function orderParts(value: string): readonly string[] {
  const double = as(value, "DOUBLE");
  const beyond: readonly Branch[] = [
    [WHOLE, `${as(value, "HUGEINT")} - ${as(double, "HUGEINT")}`],
    [DECIMAL, `${wholePart(value)} - ${as(`trunc(${double})`, "HUGEINT")}`],
    ...moments(value),
    ["INTERVAL", intervalOrder(value)],
  ];
  const fraction = `${fractionPart(value)} - coalesce(${fractionPart(double)}, 0)`;
  const told = `${WHOLE}|${FLOAT}|${DECIMAL}|${MOMENT}|${CLOCK}|INTERVAL`;
  return [
    byType(value, [[`${WHOLE}|${FLOAT}|${DECIMAL}`, double]], "NULL"),
    byType(value, [[FLOAT, "CAST(0 AS HUGEINT)"], ...beyond], "NULL"),
    byType(value, [[DECIMAL, fraction]], "CAST(0 AS DECIMAL(38, 38))"),
    byType(value, [[told, "NULL"]], value),
  ];
}

/**
 * The parts of a value with the same type in all blocks: the value itself, except for two types that the kernel's own
 * sort key orders differently.
 */
export function ownOrderParts(value: string): readonly string[] {
  const computed: readonly Branch[] = [
    ["INTERVAL", intervalOrder(value)],
    ["TIME WITH TIME ZONE", zonedOrder(value)],
  ];
  return [
    byType(value, computed, "NULL"),
    byType(
      value,
      computed.map(([types]): Branch => [types, "NULL"]),
      value,
    ),
  ];
}

const TRAVEL_AS_TEXT = "ENUM|BIT|BIGNUM|UNION|TIME WITH TIME ZONE";

/**
 * The order in which min and max compare values that travel to another task as text, as bytes; null for other types and
 * for null.
 */
export function travellingOrder(value: string): string {
  const types = `.*\\b(${TRAVEL_AS_TEXT})\\b.*`;
  return `CASE WHEN ${value} IS NOT NULL AND ${is(value, types)} THEN ${orderKey(value)} END`;
}

/** The same bytes for the same values, in their order. */
export function orderKey(value: string): string {
  return `create_sort_key({'v': ${value}}, 'ASC NULLS LAST')`;
}

export function holdsUnion(value: string): string {
  return is(value, ".*\\bUNION\\b.*");
}

const DAY_NANOS = "86400000000000";
/** Later than every moment. */
const INFINITE = "CAST('1000000000000000000000000000000' AS HUGEINT)";

/** Nanoseconds since 1970, or since midnight. */
function moments(value: string): readonly Branch[] {
  const [date, micros, nanos] = [as(value, "DATE"), as(value, "TIMESTAMP"), as(value, "TIMESTAMP_NS")];
  const bounded = (moment: string, epoch: string, finite: string) =>
    `CASE WHEN isfinite(${moment}) THEN ${finite} WHEN ${moment} > ${epoch} THEN ${INFINITE} WHEN ${moment} < ${epoch} THEN -${INFINITE} END`;
  return [
    ["DATE", bounded(date, "DATE 'epoch'", `CAST(${date} - DATE 'epoch' AS HUGEINT) * ${DAY_NANOS}`)],
    ["TIMESTAMP_NS", bounded(nanos, "TIMESTAMP 'epoch'", `CAST(epoch_ns(${nanos}) AS HUGEINT)`)],
    [MOMENT, bounded(micros, "TIMESTAMP 'epoch'", `CAST(epoch_us(${micros}) AS HUGEINT) * 1000`)],
    [CLOCK, `CAST(epoch_ns(${as(value, "TIME_NS")}) AS HUGEINT)`],
  ];
}

/**
 * Months of 30 days, days of 24 hours, as the kernel compares intervals: excess carries upwards, nothing is borrowed.
 */
function intervalOrder(value: string): string {
  const part = (name: string) => `CAST(date_part('${name}', ${as(value, "INTERVAL")}) AS HUGEINT)`;
  const months = `(${part("year")} * 12 + ${part("month")})`;
  const micros = `((${part("hour")} * 60 + ${part("minute")}) * 60000000 + ${part("microsecond")})`;
  const [day, month] = ["86400000000", "2592000000000"];
  const wholeMonths = `(${months} + ${part("day")} // 30 + ${micros} // ${month})`;
  const wholeDays = `(${part("day")} % 30 + ${micros} % ${month} // ${day})`;
  return `((${wholeMonths} * 1000 + ${wholeDays}) * 1000000000000 + ${micros} % ${day})`;
}

/** By the time in UTC, then eastern zones first, as the kernel compares them. */
function zonedOrder(value: string): string {
  const time = as(value, "TIME WITH TIME ZONE");
  const offset = `CAST(date_part('timezone', ${time}) AS HUGEINT)`;
  return `((epoch_us(${time}) - ${offset} * 1000000) * 1000000 - ${offset})`;
}

/** Rounded towards zero. Computed from the text, because a decimal may have any number of digits after the point. */
const wholePart = (decimal: string) => as(`regexp_extract(CAST(${decimal} AS VARCHAR), '^-?[0-9]*')`, "HUGEINT");
const fractionPart = (decimal: string) =>
  as(`regexp_replace(CAST(${decimal} AS VARCHAR), '^(-?)[0-9]*(\\.|$)', '\\10\\2')`, "DECIMAL(38, 38)");
