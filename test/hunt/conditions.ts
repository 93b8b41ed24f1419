/**
 * Conditions on hostile values: what a reader may take for a reason to leave rows out, from statistics that cannot say.
 */
import { col, type Expr } from "spillway";
import { type Any, type Maker, named, quoted } from "../end-to-end/differential/step.ts";

type Literal = readonly [value: unknown, sql: string];

const NUMBERS: readonly Literal[] = [
  ...([0, 1, 7] as const).map((n): Literal => [n, String(n)]),
  // Compared with, numbers of few digits are exact decimals.
  ...([-2.5, 0.1] as const).map((n): Literal => [n, `(${n})`]),
  [Number.NaN, "CAST('NaN' AS DOUBLE)"],
  [Number.POSITIVE_INFINITY, "CAST('inf' AS DOUBLE)"],
  [Number.NEGATIVE_INFINITY, "CAST('-inf' AS DOUBLE)"],
  [2n ** 53n + 1n, "9007199254740993"],
  [2n ** 63n - 1n, "9223372036854775807"],
];
const TEXTS: readonly Literal[] = ["", "a", "NULL", "é", "a'b", "日本", "\u{1F600}"].map((text) => [
  text,
  `'${text.replaceAll("'", "''")}'`,
]);
const TIMES: readonly Literal[] = [
  "1970-01-01T00:00:00.000Z",
  "2024-02-29T00:00:00.000Z",
  "2024-03-10T02:30:00.000Z",
].map((time) => [new Date(time), `TIMESTAMP '${time.slice(0, -1).replace("T", " ")}'`]);

type Comparison = (x: Expr<Any, Any, Any>, q: string, a: Literal, b: Literal) => readonly [Expr<Any, Any, Any>, string];

const COMPARISONS: readonly Comparison[] = [
  (x, q, [value, sql]) => [x.gt(value as Any), `${q} > ${sql}`],
  (x, q, [value, sql]) => [x.ge(value as Any), `${q} >= ${sql}`],
  (x, q, [value, sql]) => [x.lt(value as Any), `${q} < ${sql}`],
  (x, q, [value, sql]) => [x.le(value as Any), `${q} <= ${sql}`],
  (x, q, [value, sql]) => [x.eq(value as Any), `${q} = ${sql}`],
  (x, q, [value, sql]) => [x.ne(value as Any), `${q} <> ${sql}`],
  (x, q, [value, sql]) => [x.lt(value as Any).not(), `NOT (${q} < ${sql})`],
  (x, q, [a, sqlA], [b, sqlB]) => [x.in([a, b] as Any), `${q} IN (${sqlA}, ${sqlB})`],
  (x, q, [a, sqlA], [b, sqlB]) => [x.between(a as Any, b as Any), `${q} BETWEEN ${sqlA} AND ${sqlB}`],
  (x, q, [a, sqlA], [b, sqlB]) => [x.gt(a as Any).or(x.eq(b as Any)), `(${q} > ${sqlA} OR ${q} = ${sqlB})`],
  (x, q) => [x.isNull(), `${q} IS NULL`],
  (x, q) => [x.isNotNull(), `${q} IS NOT NULL`],
];

export const CONDITIONS: readonly Maker[] = [
  function filterHostile(shape, choice) {
    const families: readonly (readonly [readonly string[], readonly Literal[]])[] = [
      [named(shape.columns, "odd", "number"), NUMBERS],
      [named(shape.columns, "text"), TEXTS],
      [named(shape.columns, "day", "time"), TIMES],
    ];
    const [names, literals] = choice.of(families);
    if (names.length === 0) return null;
    const name = choice.of(names);
    const [a, b] = [choice.of(literals), choice.of(literals)];
    const [expr, sql] = choice.of(COMPARISONS)(col(name), quoted(name), a, b);
    return {
      ...shape,
      name: `where(${sql})`,
      apply: (ds) => ds.where(expr),
      sql: (input) => `SELECT * FROM ${input} WHERE ${sql}`,
    };
  },
];
