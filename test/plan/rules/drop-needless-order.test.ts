import { describe, expect, test } from "vitest";
import { col, count, sql } from "../../../src/dataset/index.ts";
import {
  aggregate,
  distinct,
  type Expression,
  filter,
  join,
  limit,
  type Plan,
  planLines,
  project,
  repartition,
  shuffle,
  sort,
  union,
} from "../../../src/plan/index.ts";
import { dropNeedlessOrder } from "../../../src/plan/rules/index.ts";
import { fn, table } from "../fixtures.ts";

const by = (input: Plan, name: string) =>
  sort(input, [{ expression: col(name).expression, descending: true, nulls: "first" }]);
const into = (input: Plan) => repartition(input, { kind: "parts", count: 4 });
const named = (name: string, { expression }: { expression: Expression }) => ({ name, expression });
const kinds = (plan: Plan) => planLines(dropNeedlessOrder(plan)).map((line) => line.trim().split(" ")[0]);
const groups = (input: Plan, item: { expression: Expression }) =>
  aggregate(input, [named("b", col("b"))], [named("n", item)]);

describe("orders and partitions that nobody sees go", () => {
  test("a sort under a sort, a shuffle, a group or distinct rows", () => {
    expect(planLines(dropNeedlessOrder(by(by(table(), "a"), "b")))).toEqual([
      `sort by "b" descending nulls first`,
      "  read t",
    ]);
    expect(kinds(shuffle(by(table(), "a"), 1))).toEqual(["randomShuffle", "read"]);
    expect(kinds(by(shuffle(table(), 1), "a"))).toEqual(["sort", "read"]);
    expect(kinds(groups(by(table(), "a"), count()))).toEqual(["groupBy", "read"]);
    expect(kinds(distinct(by(table(), "a"), null))).toEqual(["distinct", "read"]);
  });

  test("a repartition under another, and under what takes the rows apart anyway", () => {
    expect(kinds(into(into(table())))).toEqual(["repartition", "read"]);
    expect(kinds(by(into(table()), "a"))).toEqual(["sort", "read"]);
    expect(kinds(groups(into(table()), col("a").first()))).toEqual(["groupBy", "read"]);
    const joined = join({
      left: into(table()),
      right: into(table()),
      leftOn: ["a"],
      rightOn: ["a"],
      how: "inner",
      suffix: "2",
    });
    expect(kinds(joined)).toEqual(["inner", "read", "read"]);
    expect(kinds(fn(into(table()), { form: "mapGroups" }))).toEqual(["mapGroups(f)", "read"]);
  });

  test("also through filters, computed columns and unions", () => {
    const some = filter(by(into(table()), "a"), col("a").gt(1).expression);
    expect(kinds(by(union([some, into(table())]), "b"))).toEqual(["sort", "union", "filter", "read", "read"]);
    const raw = project(by(table(), "a"), "with", [named("i", sql("row_number() OVER ()"))], "withColumn");
    expect(kinds(by(raw, "b"))).toEqual(["sort", "withColumn", "sort", "read"]);
  });

  test("what is seen stays", () => {
    const seen: readonly Plan[] = [
      limit(by(table(), "a"), 0, 3),
      fn(by(table(), "a")),
      fn(into(table())),
      groups(by(table(), "a"), col("a").first()),
      groups(by(table(), "a"), col("a").list()),
      groups(by(table(), "a"), sql("string_agg(b)")),
      distinct(by(table(), "a"), ["b"]),
      into(by(table(), "a")),
      by(limit(by(table(), "a"), 0, 3), "b"),
      limit(repartition(table(), { kind: "keys", keys: ["a"], count: 3 }), 0, 3),
    ];
    for (const plan of seen) expect(dropNeedlessOrder(plan)).toBe(plan);
  });
});
