import { describe, expect, test } from "vitest";
import { col, lit } from "../../../src/dataset/index.ts";
import {
  aggregate,
  type Expression,
  expressionSql,
  filter,
  limit,
  type Plan,
  planLines,
  project,
  sample,
  sort,
  union,
} from "../../../src/plan/index.ts";
import { dropNoOps, fold, foldConstants, pushSamples } from "../../../src/plan/rules/index.ts";
import { columns, fn, openSource, table } from "../fixtures.ts";

describe("constants are folded", () => {
  test("arithmetic, comparison and logic of literals", () => {
    const folded = (expression: ReturnType<typeof lit>) => expressionSql(fold(expression.expression));
    expect(expressionSql(fold(col("a").gt(lit(1).add(2)).expression))).toBe('("a" > 3)');
    expect(expressionSql(fold(lit(2).gt(1).and(col("a").gt(1)).expression))).toBe('("a" > 1)');
    expect(expressionSql(fold(col("a").gt(1).or(lit(true)).expression))).toBe("TRUE");
    expect(expressionSql(fold(lit(true).not().or(lit(false)).expression))).toBe("FALSE");
    expect(folded(lit("a"))).toBe("'a'");
    // Fractions keep SQL's own arithmetic; so do integers that would change their type.
    expect(expressionSql(fold(lit(0.1).add(0.2).expression))).toContain("+");
    expect(expressionSql(fold(lit(2 ** 31 - 1).add(1).expression))).toContain("+");
  });

  test("a condition that always holds goes, one that never does reads nothing", () => {
    expect(planLines(foldConstants(filter(table(), lit(1).eq(1).expression)))).toEqual(["read t"]);
    expect(planLines(foldConstants(filter(table(), lit(1).eq(2).expression)))).toEqual(["limit 0", "  read t"]);
    expect(planLines(foldConstants(filter(table(), lit(null).expression)))).toEqual(["limit 0", "  read t"]);
  });
});

describe("constants in groups and orders are folded", () => {
  test("in aggregates and their conditions, and in sort keys", () => {
    const items = [{ name: "s", expression: col("a").add(lit(1).add(2)).sum().where(lit(1).eq(1)).expression }];
    expect(planLines(foldConstants(aggregate(table(), [], items)))[0]).toBe(`aggregate sum(("a" + 3)) AS "s"`);
    const key = (expression: Expression) => ({ expression, descending: false, nulls: "last" as const });
    const sorted = sort(table(), [key(lit(1).add(1).expression), key(col("a").expression)]);
    expect(planLines(foldConstants(sorted))).toEqual([`sort by "a"`, "  read t"]);
    expect(planLines(foldConstants(sort(table(), [key(lit(1).add(1).expression)])))).toEqual(["read t"]);
  });
});

describe("nodes that change nothing go", () => {
  test("identical selects, open limits, unions of one", () => {
    const same = project(
      table(),
      "select",
      columns.map(({ name }) => ({ name, expression: col(name).expression })),
      "select",
    );
    const nothing: readonly Plan[] = [
      same,
      project(table(), "with", [{ name: "a", expression: col("a").expression }], "withColumn"),
      limit(table(), 0, null),
      union([table()]),
      sample(table(), { kind: "fraction", fraction: 1 }, 1),
    ];
    for (const plan of nothing) expect(planLines(dropNoOps(plan))).toEqual(["read t"]);
    const reordered = project(
      table(),
      "select",
      [...columns].reverse().map(({ name }) => ({ name, expression: col(name).expression })),
      "select",
    );
    expect(planLines(dropNoOps(reordered))).toHaveLength(2);
  });

  test("limits after each other are one", () => {
    expect(planLines(dropNoOps(limit(limit(table(), 10, 20), 5, 100)))).toEqual(["limit 15 offset 15", "  read t"]);
    expect(planLines(dropNoOps(limit(limit(table(), 10, 20), 50, null)))).toEqual(["limit 0 offset 60", "  read t"]);
  });
});

describe("[A6] samples by fraction move to the reader", () => {
  const half = (input: Plan) => sample(input, { kind: "fraction", fraction: 0.5 }, 7);

  test("[A6] through filters and computed columns, not through functions and limits", () => {
    expect(planLines(pushSamples(half(filter(table(), col("a").gt(1).expression))))).toEqual([
      `filter ("a" > 1)`,
      "  read t; sample: 0.5 (seed 7)",
    ]);
    expect(planLines(pushSamples(half(fn(table()))))[0]).toBe("sample 0.5 (seed 7)");
    expect(planLines(pushSamples(half(limit(table(), 0, 5))))[0]).toBe("sample 0.5 (seed 7)");
    expect(planLines(pushSamples(half(table("blocks", openSource(columns, { samples: false })))))[0]).toBe(
      "sample 0.5 (seed 7)",
    );
  });
});
