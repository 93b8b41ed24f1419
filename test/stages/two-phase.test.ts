/** Aggregates in two phases, in the kernel: whatever the split, the outcome is that of the plain aggregate. */
import { afterAll, describe, expect, test } from "vitest";
import { Kernel } from "../../src/kernel/index.ts";
import {
  type AggregateExpression,
  type AggregateName,
  type AggregateNode,
  aggregate,
  call,
  column,
  literal,
  raw,
} from "../../src/plan/index.ts";
import { twoPhase } from "../../src/stages/aggregates/two-phase.ts";
import { relation } from "../../src/stages/sql/relation.ts";
import { selectFrom, selectSql } from "../../src/stages/sql/select.ts";
import { table } from "../plan/fixtures.ts";

const kernel = Kernel.open({ threads: 1 });
const connection = kernel.connect();
afterAll(() => {
  connection.close();
  kernel.close();
});

const of = (name: AggregateName, input: string | null, more: Partial<AggregateExpression> = {}) => ({
  kind: "aggregate" as const,
  name,
  input: input === null ? null : column(input),
  where: null,
  fraction: null,
  ...more,
});
const positive = call("gt", column("x"), literal(0));

const aggregates: Readonly<Record<string, AggregateExpression>> = {
  rows: of("count", null),
  rowsWhere: of("count", null, { where: positive }),
  count: of("count", "x"),
  sum: of("sum", "x"),
  sumOfDecimals: of("sum", "d"),
  sumOfFloats: of("sum", "f"),
  sumWhere: of("sum", "x", { where: positive }),
  mean: of("mean", "x"),
  meanOfDecimals: of("mean", "d"),
  min: of("min", "x"),
  max: of("max", "s"),
  std: of("std", "f"),
  var: of("var", "f"),
  varWhere: of("var", "x", { where: positive }),
  firstKey: of("first", "k"),
  distinct: of("countDistinct", "x"),
  distinctText: of("countDistinct", "s"),
  distinctWhere: of("countDistinct", "s", { where: positive }),
};
const items = Object.entries(aggregates).map(([name, expression]) => ({ name, expression }));

/** Rows whose groups, nulls and parts are drawn by a seed; `part` is the morsel that a row is in. */
function make(name: string, rows: number, groups: number, parts: number, seed: number): void {
  const draw = (salt: string, below: number) => `(hash(i, '${salt}', ${seed}) % ${below})`;
  const orNull = (salt: string, sql: string) => `CASE WHEN ${draw(salt, 4)} = 0 THEN NULL ELSE ${sql} END`;
  connection.execute(`CREATE OR REPLACE TABLE ${name} AS SELECT i,
    ${orNull("k0", `CAST(${draw("k", groups)} AS INTEGER)`)} AS k,
    ${orNull("x0", `CAST(${draw("x", 20)} AS BIGINT) - 10`)} AS x,
    ${orNull("d0", `CAST(${draw("d", 100000)} AS DECIMAL(9, 2))`)} AS d,
    ${orNull("f0", `CAST(${draw("f", 1000)} AS DOUBLE) / 7`)} AS f,
    ${orNull("f0", `1e9 + CAST(${draw("f", 1000)} AS DOUBLE) / 1000`)} AS far,
    ${orNull("s0", `'s' || ${draw("s", 5)}`)} AS s,
    ${draw("part", parts)} AS part
    FROM range(${rows}) t(i) ORDER BY i`);
}

/** The partial aggregate of each part on its own, then the final one over all. */
function combined(node: AggregateNode, name: string, parts: readonly number[]) {
  const phases = twoPhase(node);
  if (phases === null) throw new Error("cannot be cut");
  const partial = parts.map((part) =>
    selectSql(phases.partial(selectFrom(`(SELECT * FROM ${name} WHERE part = ${part} ORDER BY i)`))),
  );
  connection.execute(`CREATE OR REPLACE TABLE states AS ${partial.map((sql) => `(${sql})`).join(" UNION ALL ")}`);
  return connection.all(selectSql(phases.final("states")));
}

const rounded = (value: unknown): unknown => {
  if (typeof value === "number") return Number(value.toPrecision(9));
  if (Array.isArray(value)) return value.map(rounded).sort();
  return value;
};
const sorted = (rows: readonly Readonly<Record<string, unknown>>[]) =>
  rows
    .map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, rounded(value)])))
    .sort((a, b) => String(a.k).localeCompare(String(b.k)));

describe("[A8] two-phase aggregates", () => {
  for (const [rows, groups, parts] of [
    [0, 1, 1],
    [1, 1, 3],
    [7, 3, 5],
    [500, 4, 9],
    [500, 500, 3],
    [3000, 40, 17],
  ] as const) {
    test(`[A8] over any split: ${rows} rows, ${groups} groups, ${parts} parts, some of them empty`, () => {
      for (let seed = 0; seed < 5; seed++) {
        make("data", rows, groups, parts, seed);
        const all = Array.from({ length: parts + 1 }, (_, i) => i);
        for (const keys of [[], [{ name: "k", expression: column("k") }]]) {
          const wanted = keys.length === 0 ? items.filter(({ name }) => name !== "firstKey") : items;
          const node = aggregate(table(), keys, wanted);
          const plain = connection.all(selectSql(relation(node, [selectFrom("data")])));
          expect(sorted(combined(node, "data", all))).toEqual(sorted(plain));
        }
      }
    });
  }

  test("[A8] the types are those of the plain aggregate, where no part has any row, too", () => {
    make("data", 100, 3, 3, 1);
    const node = aggregate(table(), [{ name: "k", expression: column("k") }], items);
    const phases = twoPhase(node);
    const typesOf = (sql: string) => connection.describe(sql).fields.map(({ name, type }) => ({ name, type }));
    const partial = selectSql(phases?.partial(selectFrom("data")) ?? selectFrom());
    expect(typesOf(selectSql(phases?.final(`(${partial})`) ?? selectFrom()))).toEqual(
      typesOf(selectSql(relation(node, [selectFrom("data")]))),
    );
    const empty = phases?.columns.map(({ name, type }) => `CAST(NULL AS ${type ?? "INTEGER"}) AS "${name}"`).join(", ");
    expect(connection.all(selectSql(phases?.final(`(SELECT ${empty} WHERE false)`) ?? selectFrom()))).toEqual([]);
  });

  test("[A8] expressions over aggregates and keys", () => {
    make("data", 200, 5, 4, 2);
    const half = call("integerDivide", column("k"), literal(2));
    const node = aggregate(
      table(),
      [{ name: "k", expression: half }],
      [
        { name: "spread", expression: call("subtract", of("max", "x"), of("min", "x")) },
        { name: "keyed", expression: call("add", column("k"), of("count", "k")) },
        { name: "inside", expression: of("sum", "k") },
      ],
    );
    const plain = connection.all(selectSql(relation(node, [selectFrom("data")])));
    expect(plain.length).toBe(4);
    expect(sorted(combined(node, "data", [0, 1, 2, 3]))).toEqual(sorted(plain));
  });

  test("[A8] sums that leave 64 bits on the way come back", () => {
    connection.execute(
      "CREATE OR REPLACE TABLE data AS SELECT i, 1 AS k, v AS x, i // 2 AS part FROM (VALUES (0, 9e18::BIGINT), (1, 9e18::BIGINT), (2, -9e18::BIGINT), (3, -9e18::BIGINT + 7)) t(i, v)",
    );
    const node = aggregate(table(), [], [{ name: "sum", expression: of("sum", "x") }]);
    expect(combined(node, "data", [0, 1])).toEqual([{ sum: 7 }]);
  });

  test("[A8] the mean of whole numbers beyond 2^53 is that of one go, to the last bit", () => {
    const values = "9007199254740993 + (hash(i) % 1000)::BIGINT * 7";
    connection.execute(
      `CREATE OR REPLACE TABLE large AS SELECT i, i % 7 AS part, CASE WHEN i % 2 = 0 THEN ${values} ELSE -(${values}) END AS x FROM range(999) t(i)`,
    );
    const node = aggregate(table(), [], [{ name: "mean", expression: of("mean", "x") }]);
    const plain = connection.all(selectSql(relation(node, [selectFrom("large")])));
    expect(combined(node, "large", [0, 1, 2, 3, 4, 5, 6, 7])).toEqual(plain);
  });

  test("[A8] the mean of decimals is that of one go, to the last bit", () => {
    for (const type of ["DECIMAL(4, 1)", "DECIMAL(9, 2)", "DECIMAL(18, 4)", "DECIMAL(30, 6)", "DECIMAL(38, 20)"]) {
      for (const rows of [0, 1, 10, 999]) {
        const value = "((hash(i) % 1999)::BIGINT - 999) / 10";
        connection.execute(
          `CREATE OR REPLACE TABLE decimals AS SELECT i, i % 7 AS part, CASE WHEN i % 5 = 3 THEN NULL ELSE CAST(${value} AS ${type}) END AS x FROM range(${rows}) t(i)`,
        );
        const node = aggregate(table(), [], [{ name: "mean", expression: of("mean", "x") }]);
        const plain = connection.all(selectSql(relation(node, [selectFrom("decimals")])));
        expect(combined(node, "decimals", [0, 1, 2, 3, 4, 5, 6, 7]), `${type} ${rows}`).toEqual(plain);
      }
    }
  });

  test("[A8] the variance of values that are alike and far from zero, of whose squares nothing would be left", () => {
    make("data", 3000, 1, 17, 3);
    const node = aggregate(table(), [], [{ name: "var", expression: of("var", "far") }]);
    const [plain] = connection.all(selectSql(relation(node, [selectFrom("data")])));
    const [both] = combined(
      node,
      "data",
      Array.from({ length: 17 }, (_, i) => i),
    );
    expect(Number(plain?.var)).toBeGreaterThan(0.05);
    expect(Number(both?.var)).toBeCloseTo(Number(plain?.var), 4);
  });

  test("[A8] raw SQL, and what needs every value, are not cut", () => {
    expect(twoPhase(aggregate(table(), [], [{ name: "x", expression: raw("sum(a)") }]))).toBeNull();
    for (const every of [of("list", "a"), of("quantile", "a", { fraction: 0.5 })]) {
      const sum = { name: "sum", expression: of("sum", "a") };
      expect(twoPhase(aggregate(table(), [], [sum]))).not.toBeNull();
      expect(twoPhase(aggregate(table(), [], [sum, { name: "x", expression: every }]))).toBeNull();
    }
  });
});
