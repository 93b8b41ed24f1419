import { describe, expect, test } from "vitest";
import { col, sql } from "../../../src/dataset/index.ts";
import {
  explode,
  filter,
  limit,
  type Plan,
  planLines,
  project,
  rename,
  sample,
  union,
} from "../../../src/plan/index.ts";
import { pushFilters } from "../../../src/plan/rules/index.ts";
import { fn, table, unknownTable } from "../fixtures.ts";

const big = col("a").gt(5).expression;
const text = (plan: Plan) => planLines(pushFilters(plan));

describe("[D6] conditions move to the reader", () => {
  test("[D6] into the scan, all of them", () => {
    const plan = filter(filter(table(), big), col("b").eq("x").expression);
    expect(text(plan)).toEqual([`read t; filter: ("a" > 5) AND ("b" = 'x')`]);
  });

  test("[D6] through computed columns, which they then compute themselves", () => {
    const items = [{ name: "d", expression: col("a").add(1).expression }];
    expect(text(filter(project(table(), "with", items, "withColumn"), col("d").gt(5).expression))).toEqual([
      `withColumn ("a" + 1) AS "d"`,
      `  read t; filter: (("a" + 1) > 5)`,
    ]);
  });

  test("[D6] not through a column of raw SQL, which may be volatile", () => {
    const items = [{ name: "r", expression: sql("random()").expression }];
    const plan = filter(project(table(), "with", items, "withColumn"), col("r").lt(0.5).and(col("a").gt(5)).expression);
    expect(text(plan)).toEqual([
      `filter ("r" < 0.5)`,
      `  withColumn (random()) AS "r"`,
      `    read t; filter: ("a" > 5)`,
    ]);
  });

  test("[D6] through rename, union, and explode of another column", () => {
    expect(text(filter(rename(unknownTable(), new Map([["x", "y"]])), col("y").gt(5).expression))).toEqual([
      "rename x -> y",
      `  read u; filter: ("x" > 5)`,
    ]);
    expect(text(filter(union([table("one"), table("two")]), big))).toEqual([
      "union of 2",
      `  read one; filter: ("a" > 5)`,
      `  read two; filter: ("a" > 5)`,
    ]);
    const conditions = col("a").gt(5).and(col("b").eq("x")).expression;
    expect(text(filter(explode(table(), "b"), conditions))).toEqual([
      `filter ("b" = 'x')`,
      "  explode b",
      `    read t; filter: ("a" > 5)`,
    ]);
  });

  test("[D6] never past functions, limits and samples", () => {
    for (const plan of [fn(table()), limit(table(), 0, 3), sample(table(), { kind: "fraction", fraction: 0.5 }, 1)]) {
      expect(text(filter(plan, big))[0]).toBe(`filter ("a" > 5)`);
    }
  });

  test("[D6] a raw condition goes no further than it can be read", () => {
    const items = [{ name: "d", expression: col("a").expression }];
    const plan = filter(project(table(), "select", items, "select"), sql("d > 5").expression);
    expect(text(plan)[0]).toBe("filter (d > 5)");
    expect(text(filter(table(), sql("a > 5").expression))).toEqual(["read t; filter: (a > 5)"]);
  });
});
