/** Values that have broken engines, by type, as the kernel's SQL writes them. */
import type { Kind } from "../end-to-end/differential/step.ts";

export interface HostileType {
  readonly type: string;
  readonly kind: Kind;
  readonly literals: readonly string[];
}

const whole = (...values: readonly (bigint | number)[]) => values.map((value) => `'${value}'`);
const texts = (...values: readonly string[]) => values.map((value) => `'${value.replaceAll("'", "''")}'`);

const FLOATS = [
  ...["'NaN'", "-('NaN'::DOUBLE)", "'inf'", "'-inf'", "0", "'-0.0'", "1", "0.1", "-2.5"],
  ...["9007199254740991", "9007199254740992", "9007199254740994", "16777217"],
];
const DOUBLES = [...FLOATS, "'1e308'", "'-1e308'", "'5e-324'", "'1.7976931348623157e308'", "1e15", "123456.789e3"];

export const TEXTS: readonly string[] = [
  ...["", " ", "a", "A", "a'b", '"quoted"', "NULL", "null", "nan", "007", "1e3", "1.50", "0", "-0", "true"],
  ...["zoë", "zoe\u0308", "ẞß", "İi", "日本", "👩‍👩‍👧", "\u{1F600}", "\uFFFD", "\u2028", "\uFEFFbom"],
  ...["two\nlines", "cr\rlf\r\n", "tab\t", "comma,semi;pipe|", "back\\slash", "%_", "$1", "{}", "[1]", "*", "a=b/c"],
  ...["2024-01-31", "2024-01-31 12:00:00+02", "x".repeat(15), "é".repeat(200)],
];

const DATES = [
  ...["1970-01-01", "1969-12-31", "2024-02-29", "1900-02-28", "0001-01-01", "9999-12-31", "2011-12-30"],
  ...["5877642-06-25 (BC)", "5881580-07-10", "infinity", "-infinity", "12345-06-07"],
];
const TIMES = [
  ...["1970-01-01 00:00:00", "1969-12-31 23:59:59.999999", "2024-03-10 02:30:00", "2024-11-03 01:30:00.5"],
  ...["2024-02-29 12:34:56.789012", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "2011-12-30 12:00:00"],
];
const FAR_TIMES = ["290309-12-22 (BC) 00:00:00", "294247-01-10 04:00:54.775806", "infinity", "-infinity"];

/** Columns that are computed with, in exact binary fractions, so that no order of additions shows. */
export const TAME: readonly HostileType[] = [
  { type: "BIGINT", kind: "number", literals: whole(-12, -1, 0, 1, 2, 3, 7, 12) },
  { type: "TINYINT", kind: "number", literals: whole(-12, -1, 0, 1, 2, 3, 7, 12) },
  { type: "DOUBLE", kind: "number", literals: ["-2.5", "-0.25", "0", "0.5", "1", "2.75", "10"] },
  { type: "DECIMAL(12,2)", kind: "number", literals: ["-2.50", "-0.25", "0", "0.50", "1", "2.75", "10"] },
  { type: "BOOLEAN", kind: "boolean", literals: ["true", "false"] },
  { type: "BIGINT[]", kind: "list", literals: ["[]", "[1]", "[NULL]", "[3, NULL, -7]"] },
];

export const HOSTILE: readonly HostileType[] = [
  {
    type: "BIGINT",
    kind: "odd",
    literals: whole(2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), 0),
  },
  { type: "UBIGINT", kind: "odd", literals: whole(0, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n - 2n) },
  { type: "HUGEINT", kind: "odd", literals: whole(0, -1, 2n ** 64n, 10n ** 37n, 1n - 10n ** 38n, 10n ** 38n - 1n) },
  { type: "INTEGER", kind: "odd", literals: whole(-(2 ** 31), 2 ** 31 - 1, 0, -1) },
  { type: "UINTEGER", kind: "odd", literals: whole(2 ** 32 - 1, 2 ** 31, 0) },
  { type: "SMALLINT", kind: "odd", literals: whole(-32768, 32767, 0) },
  { type: "UTINYINT", kind: "odd", literals: whole(255, 128, 0) },
  { type: "DOUBLE", kind: "odd", literals: DOUBLES },
  { type: "FLOAT", kind: "odd", literals: FLOATS },
  {
    type: "DECIMAL(38,10)",
    kind: "odd",
    literals: [
      ...texts("0", "0.0000000001", "-0.0000000001", "9007199254740993.5", "1.1"),
      ...texts("9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999"),
    ],
  },
  { type: "DECIMAL(18,6)", kind: "odd", literals: texts("0", "999999999999.999999", "-0.000001", "1.1") },
  { type: "DECIMAL(4,1)", kind: "odd", literals: texts("0", "999.9", "-999.9", "1.1") },
  { type: "VARCHAR", kind: "text", literals: [...texts(...TEXTS), "repeat('long ', 4000)"] },
  { type: "VARCHAR", kind: "text", literals: texts("a", "b", "A", "") },
  { type: "BLOB", kind: "blob", literals: ["''", "'\\x00'", "'\\xFF\\xFE'", "'abc'", "'\\x80'"] },
  { type: "DATE", kind: "day", literals: texts(...DATES) },
  { type: "DATE", kind: "day", literals: texts(...DATES.slice(0, 4)) },
  { type: "TIMESTAMP", kind: "time", literals: texts(...TIMES, ...FAR_TIMES) },
  { type: "TIMESTAMP", kind: "time", literals: texts(...TIMES.slice(0, 3), "2024-02-29 00:00:00") },
  { type: "TIMESTAMP_S", kind: "time", literals: texts(...TIMES) },
  { type: "TIMESTAMP_MS", kind: "time", literals: texts(...TIMES) },
  {
    type: "TIMESTAMP_NS",
    kind: "time",
    literals: texts(
      "1970-01-01 00:00:00.000000001",
      "1969-12-31 23:59:59.999999999",
      "2262-04-11 23:47:16.854775806",
      "1677-09-22 00:00:00",
    ),
  },
  { type: "TIMESTAMP WITH TIME ZONE", kind: "time", literals: texts(...TIMES.map((time) => `${time}+00`)) },
  { type: "TIME", kind: "clock", literals: texts("00:00:00", "23:59:59.999999", "12:30:00.5") },
  {
    type: "INTERVAL",
    kind: "span",
    literals: texts("0 days", "1 month", "30 days", "-1 microsecond", "24 hours", "1 day", "178000 years"),
  },
  {
    type: "UUID",
    kind: "blob",
    literals: texts("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
  },
  { type: "BIGINT[]", kind: "struct", literals: ["[]", "[NULL]", "[9007199254740993]", "[9007199254740992, NULL]"] },
  { type: "VARCHAR[]", kind: "struct", literals: ["[]", "[NULL]", "['', 'a''b']", "['NULL', '007']"] },
  { type: "DOUBLE[2]", kind: "struct", literals: ["[1, 2]", "[NULL, 'nan']", "['-0.0', 'inf']"] },
  {
    type: 'STRUCT(x DOUBLE, y VARCHAR[], "[z]" BIGINT)',
    kind: "struct",
    literals: [
      `{'x': 1, 'y': ['a', NULL], '[z]': 9007199254740993}`,
      `{'x': 'nan', 'y': [], '[z]': NULL}`,
      `{'x': NULL, 'y': NULL, '[z]': NULL}`,
    ],
  },
  {
    type: "STRUCT(a STRUCT(b DECIMAL(38,10), c TIMESTAMP)[])",
    kind: "struct",
    literals: ["{'a': []}", "{'a': NULL}", "{'a': [{'b': 1.1, 'c': TIMESTAMP '2024-02-29 12:34:56.789012'}, NULL]}"],
  },
  {
    type: "MAP(VARCHAR, BIGINT)",
    kind: "struct",
    literals: ["MAP {}", "MAP {'a': 1, '': NULL}", "MAP {'__proto__': 9007199254740993}"],
  },
];
