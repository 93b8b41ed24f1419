/** What rules do around a window: it looks at all rows of its partitions, so that little may pass it. */
import { describe, expect, test } from "vitest";
import { col, count, rowNumber, sql } from "../../../src/dataset/index.ts";
import {
  type Expression,
  filter,
  limit,
  type Plan,
  planLines,
  project,
  raw,
  sample,
  sort,
  type WindowNode,
  window,
} from "../../../src/plan/index.ts";
import {
  dropNeedlessOrder,
  mergeProjections,
  pruneColumns,
  pushFilters,
  pushLimits,
  pushSamples,
} from "../../../src/plan/rules/index.ts";
import { fn, table } from "../fixtures.ts";

const named = (name: string, expression: { readonly expression: Expression }) => ({
  name,
  expression: expression.expression,
});
const total = col("c")
  .sum()
  .over({ partitionBy: ["a", "b"], orderBy: "c" });
const others = count().over({ partitionBy: "b" });
const withItems = (input: Plan, ...items: WindowNode["items"]) => window(input, "with", items, "withColumn");
const where = (input: Plan, condition: { readonly expression: Expression }) => filter(input, condition.expression);
const lines = (plan: Plan) => planLines(plan).map((line) => line.trim());

describe("[A16] rules around a window", () => {
  test("[A16] conditions pass it on what all its windows are partitioned by, and on nothing else", () => {
    const one = withItems(table(), named("w", total));
    const both = withItems(table(), named("w", total), named("v", others));
    const below = (plan: Plan) => !lines(pushFilters(plan))[0]?.startsWith("filter");
    expect(below(where(one, col("a").gt(1)))).toBe(true);
    expect(below(where(one, col("a").gt(1).or(col("b").eq("x"))))).toBe(true);
    expect(below(where(both, col("b").eq("x")))).toBe(true);
    expect(below(where(both, col("a").gt(1)))).toBe(false);
    expect(below(where(one, col("c").gt(1)))).toBe(false);
    expect(below(where(one, col("w").gt(1)))).toBe(false);
    expect(below(where(one, col("a").gt(1).and(col("w").gt(1))))).toBe(false);
    expect(below(where(one, sql("a > 1")))).toBe(false);
    // The column of that name is another one above.
    expect(below(where(withItems(table(), named("w", total), named("a", col("c"))), col("a").gt(1)))).toBe(false);
    const renamed = window(table(), "select", [named("k", col("b")), named("n", others)], "select");
    expect(lines(pushFilters(where(renamed, col("k").eq("x"))))[1]).toBe(`read t; filter: ("b" = 'x')`);
  });

  test("[A16] raw SQL is partitioned by the columns that the parser saw", () => {
    const seen = { windows: [["a"]], aggregates: [], columns: new Set(["a", "c"]), unnests: false, isOne: true };
    const expression = { ...raw("sum(c) over (partition by a)"), seen };
    const plan = withItems(table(), { name: "w", expression });
    expect(lines(pushFilters(where(plan, col("a").gt(1))))[0]).not.toContain("filter");
    expect(lines(pushFilters(where(plan, col("b").eq("x"))))[0]).toContain("filter");
    expect(lines(pruneColumns(project(plan, "select", [named("w", col("w"))], "select"))).at(-1)).toBe(
      "read t; columns: a, c (2 of 3)",
    );
  });

  test("[A16] limits and samples stay above it", () => {
    const plan = withItems(fn(table()), named("w", total));
    expect(lines(pushLimits(limit(plan, 0, 5)))[0]).toBe("limit 5");
    expect(lines(pushLimits(limit(withItems(table(), named("w", total)), 0, 5))).at(-1)).toBe("read t");
    const some = sample(withItems(table(), named("w", total)), { kind: "fraction", fraction: 0.5 }, 1);
    expect(lines(pushSamples(some))[0]).toContain("sample");
  });

  test("[A16] what it goes by is read, and one that nobody reads is not computed", () => {
    const plan = withItems(table(), named("w", others), named("v", col("c").max().over()));
    const pruned = (name: string) => lines(pruneColumns(project(plan, "select", [named(name, col(name))], "select")));
    expect(pruned("w")).toEqual([
      'select "w"',
      'withColumn over all rows count(*) OVER (PARTITION BY "b") AS "w"',
      "read t; columns: b (1 of 3)",
    ]);
    expect(pruned("a").at(-1)).toBe("read t; columns: a (1 of 3)");
    expect(pruned("a").join()).not.toContain("over all rows");
  });

  test("[A16] windows by the same keys become one, unless one reads the other", () => {
    const first = withItems(table(), named("w", others));
    const merged = (outer: Plan) => lines(mergeProjections(outer)).length === 2;
    expect(merged(withItems(first, named("v", rowNumber().over({ partitionBy: "b", orderBy: "c" }))))).toBe(true);
    expect(merged(withItems(first, named("v", col("w").max().over({ partitionBy: "b" }))))).toBe(false);
    expect(merged(withItems(first, named("v", col("c").max().over({ partitionBy: "a" }))))).toBe(false);
    expect(merged(withItems(first, named("w", col("c").max().over({ partitionBy: "b" }))))).toBe(false);
    expect(merged(project(first, "with", [named("v", col("w").add(1))], "withColumn"))).toBe(false);
  });

  test("[A16] a sort below it goes, unless raw SQL or a list may see it", () => {
    const keys = [{ expression: col("a").expression, descending: false, nulls: "last" }] as const;
    const sorts = (...items: WindowNode["items"]) =>
      lines(dropNeedlessOrder(withItems(sort(table(), keys), ...items))).some((line) => line.startsWith("sort"));
    expect(sorts(named("w", total))).toBe(false);
    expect(sorts(named("w", col("a").list().over({ orderBy: "c" })))).toBe(false);
    expect(sorts(named("w", col("a").list().over()))).toBe(true);
    expect(sorts(named("w", sql("row_number() OVER ()")))).toBe(true);
  });
});
