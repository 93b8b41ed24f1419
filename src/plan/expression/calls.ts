/**
 * Every operator and function that an expression can call, with its SQL. The list is closed: anything else is written
 * as `sql("…")`. The semantics are SQL's: null in gives null out, unless stated otherwise; `/` is float division.
 */

type Render = (args: readonly string[]) => string;

const infix =
  (operator: string): Render =>
  (args) =>
    `(${args.join(` ${operator} `)})`;
const call =
  (name: string): Render =>
  (args) =>
    `${name}(${args.join(", ")})`;
const suffix =
  (text: string): Render =>
  ([input]) =>
    `(${input} ${text})`;
const interval =
  (name: string): Render =>
  ([input, amount]) =>
    `(${input} + ${name}(${amount}))`;
/** The kernel takes a null list of fixed size for a list that contains nulls, which it refuses. */
const ofVectors =
  (name: string): Render =>
  ([left, right]) =>
    `(CASE WHEN ${left} IS NULL OR ${right} IS NULL THEN NULL ELSE ${name}(${left}, ${right}) END)`;
/** The angle of a vector without a direction (of zeros, or with NaN or infinities) is NaN. The kernel returns -1. */
const cosine: Render = ([left, right]) => {
  const square = (vector: string) => `list_inner_product(${vector}, ${vector})`;
  const points = (vector: string) => `isfinite(${square(vector)}) AND ${square(vector)} > 0`;
  const angle = `list_cosine_similarity(${left}, ${right})`;
  return `(CASE WHEN ${left} IS NULL OR ${right} IS NULL THEN NULL ELSE ${angle} + CASE WHEN ${points(`${left}`)} AND ${points(`${right}`)} THEN 0::FLOAT ELSE 'NaN'::FLOAT END END)`;
};
const datePart =
  (part: string): Render =>
  ([input]) =>
    `date_part('${part}', ${input})`;

const table = {
  add: infix("+"),
  subtract: infix("-"),
  multiply: infix("*"),
  divide: infix("/"),
  // `//` keeps the fraction of floats and decimals. Whole numbers have none to cut.
  integerDivide: ([left, right]) => `trunc(${left} // ${right})`,
  modulo: infix("%"),
  power: call("pow"),
  negate: ([input]) => `(-${input})`,

  eq: infix("="),
  ne: infix("<>"),
  lt: infix("<"),
  le: infix("<="),
  gt: infix(">"),
  ge: infix(">="),
  isSame: infix("IS NOT DISTINCT FROM"),

  and: infix("AND"),
  or: infix("OR"),
  not: ([input]) => `(NOT ${input})`,
  isNull: suffix("IS NULL"),
  isNotNull: suffix("IS NOT NULL"),
  isNan: call("isnan"),
  in: ([input, ...values]) => (values.length === 0 ? "FALSE" : `(${input} IN (${values.join(", ")}))`),
  coalesce: call("coalesce"),
  nullIf: call("nullif"),
  greatest: call("greatest"),
  least: call("least"),

  abs: call("abs"),
  sign: call("sign"),
  round: call("round"),
  floor: call("floor"),
  ceil: call("ceil"),
  trunc: call("trunc"),
  sqrt: call("sqrt"),
  cbrt: call("cbrt"),
  exp: call("exp"),
  ln: call("ln"),
  log2: call("log2"),
  log10: call("log10"),
  sin: call("sin"),
  cos: call("cos"),
  tan: call("tan"),
  asin: call("asin"),
  acos: call("acos"),
  atan: call("atan"),
  atan2: call("atan2"),
  bitAnd: infix("&"),
  bitOr: infix("|"),
  bitXor: call("xor"),
  shiftLeft: infix("<<"),
  shiftRight: infix(">>"),
  hash: call("hash"),

  upper: call("upper"),
  lower: call("lower"),
  length: call("length"),
  byteLength: call("octet_length"),
  trim: call("trim"),
  trimStart: call("ltrim"),
  trimEnd: call("rtrim"),
  contains: call("contains"),
  startsWith: call("starts_with"),
  endsWith: call("ends_with"),
  like: infix("LIKE"),
  ilike: infix("ILIKE"),
  replace: call("replace"),
  substring: call("substring"),
  left: call("left"),
  right: call("right"),
  split: call("string_split"),
  concat: infix("||"),
  repeat: call("repeat"),
  reverse: call("reverse"),
  padStart: call("lpad"),
  padEnd: call("rpad"),
  position: call("strpos"),
  regexpMatches: call("regexp_matches"),
  regexpExtract: call("regexp_extract"),
  regexpExtractAll: call("regexp_extract_all"),
  regexpReplace: call("regexp_replace"),
  md5: call("md5"),
  sha256: call("sha256"),
  encodeUtf8: call("encode"),
  decodeUtf8: call("decode"),
  jsonExtract: call("json_extract"),
  jsonExtractText: call("json_extract_string"),

  year: datePart("year"),
  quarter: datePart("quarter"),
  month: datePart("month"),
  week: datePart("week"),
  day: datePart("day"),
  dayOfWeek: datePart("dow"),
  dayOfYear: datePart("doy"),
  hour: datePart("hour"),
  minute: datePart("minute"),
  second: datePart("second"),
  millisecond: ([input]) => `(date_part('millisecond', ${input}) % 1000)`,
  epochMilliseconds: call("epoch_ms"),
  dateTrunc: call("date_trunc"),
  dateDiff: call("date_diff"),
  addYears: interval("to_years"),
  addMonths: interval("to_months"),
  addDays: interval("to_days"),
  addHours: interval("to_hours"),
  addMinutes: interval("to_minutes"),
  addSeconds: interval("to_seconds"),
  strftime: call("strftime"),
  strptime: call("strptime"),
  atTimeZone: ([input, zone]) => `timezone(${zone}, ${input})`,

  listLength: call("len"),
  listGet: call("list_extract"),
  listContains: call("list_contains"),
  listPosition: call("list_position"),
  listSlice: call("list_slice"),
  listConcat: call("list_concat"),
  listSort: call("list_sort"),
  listDistinct: call("list_distinct"),
  listReverse: call("list_reverse"),
  listSum: call("list_sum"),
  listMean: call("list_avg"),
  listMin: call("list_min"),
  listMax: call("list_max"),
  listJoin: call("array_to_string"),
  cosineSimilarity: cosine,
  l2Distance: ofVectors("list_distance"),
  dot: ofVectors("list_inner_product"),
  list: ([...items]) => `[${items.join(", ")}]`,
  mapGet: ([input, key]) => `${input}[${key}]`,
  mapKeys: call("map_keys"),
  mapValues: call("map_values"),
  field: call("struct_extract"),
} satisfies Readonly<Record<string, Render>>;

export type CallName = keyof typeof table;

export const calls: Readonly<Record<CallName, Render>> = table;

/** In these calls a literal is a bound to compare with, not a value to compute with. */
export const comparisons: ReadonlySet<CallName> = new Set(["eq", "ne", "lt", "le", "gt", "ge", "in", "isSame"]);
