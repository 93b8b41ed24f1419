import { describe, expect, test } from "vitest";
import { col, type Expr, sql } from "../../../src/dataset/index.ts";
import { expressionSize, type Plan, planLines, project } from "../../../src/plan/index.ts";
import { mergeProjections } from "../../../src/plan/rules/index.ts";
import { table } from "../fixtures.ts";

type Items = Record<string, Pick<Expr, "expression">>;
const items = (named: Items) => Object.entries(named).map(([name, { expression }]) => ({ name, expression }));
const withColumns = (input: Plan, named: Items) => project(input, "with", items(named), "withColumn");
const select = (input: Plan, named: Items) => project(input, "select", items(named), "select");
const lines = (plan: Plan) => planLines(mergeProjections(plan));

describe("projections are merged", () => {
  test("an outer one takes in what the inner one computes", () => {
    const inner = withColumns(table(), { d: col("a").add(1) });
    expect(lines(withColumns(inner, { e: col("d").multiply(2) }))).toEqual([
      `withColumn ("a" + 1) AS "d", (("a" + 1) * 2) AS "e"`,
      "  read t",
    ]);
    expect(lines(select(inner, { e: col("d").multiply(2), b: col("b") }))).toEqual([
      `select (("a" + 1) * 2) AS "e", "b"`,
      "  read t",
    ]);
    expect(lines(withColumns(select(table(), { x: col("a"), y: col("b") }), { x: col("y") }))).toEqual([
      `select "b" AS "x", "b" AS "y"`,
      "  read t",
    ]);
  });

  test("raw SQL is neither looked into nor written twice", () => {
    const random = withColumns(table(), { r: sql("random()") });
    expect(lines(withColumns(random, { s: col("r") }))).toHaveLength(3);
    expect(lines(select(random, { s: col("r") }))).toEqual([`select (random()) AS "s"`, "  read t"]);
    expect(lines(withColumns(withColumns(table(), { d: col("a") }), { e: sql("d + 1") }))).toHaveLength(3);
  });

  test("[A6] a thousand that build on each other become few, none of them large", () => {
    let plan: Plan = table();
    for (let i = 0; i < 1000; i++) plan = withColumns(plan, { a: col("a").multiply(col("a")) });
    const merged = mergeProjections(plan);
    let depth = 0;
    for (let node: Plan = merged; node.kind === "project"; node = node.input) {
      depth++;
      for (const { expression } of node.items) expect(expressionSize(expression)).toBeLessThanOrEqual(32);
    }
    expect(depth).toBeLessThanOrEqual(250);
    let wide: Plan = table();
    for (let i = 0; i < 1000; i++) wide = withColumns(wide, { [`c${i}`]: col("a").add(i) });
    expect(lines(wide)).toHaveLength(2);
  });
});
