/** Windows, and the first rows of each partition, whose values do not depend on which of two equal rows comes first. */
import { col, count, denseRank, type Expr, ntile, rank, rowNumber } from "spillway";
import {
  type Any,
  type Choice,
  type Columns,
  type Kind,
  keysIn,
  type Maker,
  NO_ORDER,
  named,
  quoted,
  quotedList,
  type Step,
} from "./step.ts";

interface Computed {
  readonly expr: Any;
  readonly sql: string;
  readonly kind: Kind;
}

interface Over {
  readonly partitionBy: readonly string[];
  readonly orderBy: readonly string[];
  readonly frame?: readonly [option: object, sql: string];
}

const WHOLE_PARTITION = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING";

const ROWS: readonly (readonly [object, string])[] = [
  [{ rows: [-2, 0] }, "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"],
  [{ rows: ["unbounded", 0] }, "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"],
  [{ rows: [1, "unbounded"] }, "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING"],
  [{ rows: [-1, 1] }, "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING"],
];
const RANGES: readonly (readonly [object, string])[] = [
  [{ range: [-2, 2] }, "RANGE BETWEEN 2 PRECEDING AND 2 FOLLOWING"],
  [{ range: ["unbounded", 0] }, "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"],
  [{ range: [0, 3] }, "RANGE BETWEEN CURRENT ROW AND 3 FOLLOWING"],
];
const DAYS: readonly (readonly [object, string])[] = [
  [{ range: [{ day: -2 }, 0] }, "RANGE BETWEEN INTERVAL 2 DAY PRECEDING AND CURRENT ROW"],
  [{ range: [{ day: -1 }, { day: 1 }] }, "RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND INTERVAL 1 DAY FOLLOWING"],
];

/** The value in a column of its own, or as a condition. */
function windowed(columns: Columns, known: boolean, choice: Choice, computed: Computed, over: Over): Step | null {
  if (columns.has("seen")) return null;
  const { partitionBy, orderBy, frame } = over;
  const descending = choice.chance(2);
  const by = orderBy.map((key) => `${quoted(key)} ${descending ? "DESC" : "ASC"} NULLS LAST`).join(", ");
  const clauses = [
    ...(partitionBy.length > 0 ? [`PARTITION BY ${quotedList(partitionBy)}`] : []),
    ...(orderBy.length > 0 ? [`ORDER BY ${by}`] : []),
    ...(frame === undefined ? [] : [frame[1]]),
  ].join(" ");
  const whole = computed.sql.includes("_value(") && frame === undefined ? ` ${WHOLE_PARTITION}` : "";
  const sql = `${computed.sql} OVER (${clauses}${whole})`;
  const value: Expr<Any, Any, Any> = computed.expr.over({
    ...(partitionBy.length > 0 ? { partitionBy } : {}),
    ...(orderBy.length > 0 ? { orderBy, descending } : {}),
    ...frame?.[0],
  });
  const condition = computed.kind === "number" && choice.chance(4);
  return {
    name: `${condition ? "where" : "withColumn"}(${sql})`,
    apply: (ds) => (condition ? ds.where(value.le(2)) : ds.withColumn("seen", value)),
    sql: (input) =>
      condition ? `SELECT * FROM ${input} QUALIFY ${sql} <= 2` : `SELECT *, ${sql} AS seen FROM ${input}`,
    columns: condition ? columns : new Map([...columns, ["seen", computed.kind]]),
    order: NO_ORDER,
    known,
  };
}

const partition = (keys: readonly string[], choice: Choice) => (choice.chance(3) ? [] : choice.some(keys, 2));

/** Equal in all of these are only rows that cannot be told apart. */
function allColumns(columns: Columns, choice: Choice): readonly string[] | null {
  if (keysIn(columns).length !== columns.size) return null;
  const first = choice.some([...columns.keys()], columns.size);
  return [...first, ...[...columns.keys()].filter((name) => !first.includes(name))];
}

export const WINDOWS: readonly Maker[] = [
  function ranked({ columns, known }, choice) {
    const keys = keysIn(columns);
    if (keys.length === 0) return null;
    const computed = choice.of<Computed>([
      { expr: rank(), sql: "rank()", kind: "number" },
      { expr: denseRank(), sql: "dense_rank()", kind: "number" },
    ]);
    return windowed(columns, known, choice, computed, {
      partitionBy: partition(keys, choice),
      orderBy: choice.some(keys, 2),
    });
  },
  function aggregated({ columns, known }, choice) {
    const [keys, numbers] = [keysIn(columns), named(columns, "number")];
    if (keys.length === 0 || numbers.length === 0) return null;
    const name = choice.of(numbers);
    const computed = choice.of<Computed>([
      { expr: count(), sql: "count(*)", kind: "number" },
      { expr: col(name).sum(), sql: `sum(${quoted(name)})`, kind: "number" },
      { expr: col(name).max(), sql: `max(${quoted(name)})`, kind: "number" },
    ]);
    const orderBy = choice.chance(2) ? choice.some(keys, 2) : [];
    return windowed(columns, known, choice, computed, { partitionBy: partition(keys, choice), orderBy });
  },
  function byPlace({ columns, known }, choice) {
    const orderBy = allColumns(columns, choice);
    if (orderBy === null) return null;
    const name = choice.of([...columns.keys()]);
    const [x, q, kind] = [col(name), quoted(name), columns.get(name) ?? "number"];
    const computed = choice.of<Computed>([
      { expr: rowNumber(), sql: "row_number()", kind: "number" },
      { expr: ntile(3), sql: "ntile(3)", kind: "number" },
      { expr: x.lag(), sql: `lag(${q})`, kind },
      { expr: x.lead(2), sql: `lead(${q}, 2)`, kind },
      { expr: x.first(), sql: `first_value(${q})`, kind },
      { expr: x.last(), sql: `last_value(${q})`, kind },
    ]);
    return windowed(columns, known, choice, computed, { partitionBy: partition(keysIn(columns), choice), orderBy });
  },
  function moving({ columns, known }, choice) {
    const [orderBy, numbers] = [allColumns(columns, choice), named(columns, "number")];
    if (orderBy === null || numbers.length === 0) return null;
    const [name, other] = [choice.of(numbers), choice.of([...columns.keys()])];
    const computed = choice.of<Computed>([
      { expr: col(name).sum(), sql: `sum(${quoted(name)})`, kind: "number" },
      { expr: col(name).min(), sql: `min(${quoted(name)})`, kind: "number" },
      { expr: col(other).first(), sql: `first_value(${quoted(other)})`, kind: columns.get(other) ?? "number" },
      { expr: col(other).last(), sql: `last_value(${quoted(other)})`, kind: columns.get(other) ?? "number" },
    ]);
    const [frame, sql] = choice.of(ROWS);
    const over = { partitionBy: partition(keysIn(columns), choice), orderBy, frame: [{ frame }, sql] as const };
    return windowed(columns, known, choice, computed, over);
  },
  function inRange({ columns, known }, choice) {
    const numbers = named(columns, "number");
    const days = named(columns, "day");
    if (numbers.length === 0) return null;
    const [key, [frame, sql]] =
      days.length > 0 && choice.chance(2)
        ? ([choice.of(days), choice.of(DAYS)] as const)
        : ([choice.of(numbers), choice.of(RANGES)] as const);
    const name = choice.of(numbers);
    const computed = choice.of<Computed>([
      { expr: count(), sql: "count(*)", kind: "number" },
      { expr: col(name).sum(), sql: `sum(${quoted(name)})`, kind: "number" },
    ]);
    const over = { partitionBy: partition(keysIn(columns), choice), orderBy: [key], frame: [{ frame }, sql] as const };
    return windowed(columns, known, choice, computed, over);
  },
  function topN({ columns, known }, choice) {
    const by = allColumns(columns, choice);
    if (by === null) return null;
    const partitionBy = partition(keysIn(columns), choice);
    const [rows, descending] = [choice.below(6), choice.chance(2)];
    const order = by.map((key) => `${quoted(key)} ${descending ? "DESC" : "ASC"} NULLS LAST`).join(", ");
    const place = `row_number() OVER (PARTITION BY ${quotedList(partitionBy)} ORDER BY ${order})`;
    return {
      name: `topN(${rows} by ${by}${descending ? " descending" : ""}, of ${partitionBy})`,
      apply: (ds) => ds.topN(rows, { by, descending, ...(partitionBy.length > 0 ? { partitionBy } : {}) }),
      sql: (input) =>
        partitionBy.length > 0
          ? `FROM ${input} QUALIFY ${place} <= ${rows}`
          : `FROM ${input} ORDER BY ${order} LIMIT ${rows}`,
      columns,
      order: partitionBy.length > 0 ? NO_ORDER : "total",
      known,
    };
  },
];
