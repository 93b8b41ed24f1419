import { describe, expect, test } from "vitest";
import { col, count, sql } from "../../../src/dataset/index.ts";
import {
  aggregate,
  distinct,
  explode,
  filter,
  join,
  limit,
  type Plan,
  planLines,
  project,
  repartition,
  sample,
  shuffle,
  sort,
  union,
  zip,
} from "../../../src/plan/index.ts";
import { pruneColumns } from "../../../src/plan/rules/index.ts";
import { columns, fn, openSource, table } from "../fixtures.ts";

const select = (input: Plan, ...names: string[]) =>
  project(
    input,
    "select",
    names.map((name) => ({ name, expression: col(name).expression })),
    "select",
  );
const scans = (plan: Plan) =>
  planLines(pruneColumns(plan))
    .filter((line) => line.includes("read "))
    .map((line) => line.trim());

describe("[D6] only the columns that are read", () => {
  test("[D6] by select, filter, explode and limit", () => {
    expect(scans(select(table(), "b"))).toEqual(["read t; columns: b (1 of 3)"]);
    expect(scans(select(filter(table(), col("a").gt(1).expression), "b"))).toEqual(["read t; columns: a, b (2 of 3)"]);
    expect(scans(limit(select(explode(table(), "c"), "b"), 0, 5))).toEqual(["read t; columns: b, c (2 of 3)"]);
    expect(scans(table())).toEqual(["read t"]);
    expect(scans(select(table(), "a", "b", "c"))).toEqual(["read t"]);
  });

  test("[D6] a computed column that nobody reads is not computed", () => {
    const items = [{ name: "d", expression: col("c").add(1).expression }];
    const plan = pruneColumns(select(project(table(), "with", items, "withColumn"), "a"));
    expect(planLines(plan).at(-1)?.trim()).toBe("read t; columns: a (1 of 3)");
  });

  test("[D6] functions that provably read only some", () => {
    expect(scans(fn(table(), { columns: ["a", "missing"] }))).toEqual(["read t; columns: a (1 of 3)"]);
    expect(scans(fn(table()))).toEqual(["read t"]);
    expect(scans(fn(table(), { form: "mapBatches", columns: ["c"] }))).toEqual(["read t; columns: c (1 of 3)"]);
    const rows = { batchSize: 1, batchFormat: "rows", maxInFlight: 1, onError: "fail" } as const;
    expect(scans(fn(table(), { form: "mapBatches", columns: ["map"], options: rows }))).toEqual(["read t"]);
    expect(scans(fn(table(), { form: "filter", columns: ["a"] }))).toEqual(["read t"]);
    expect(scans(select(fn(table(), { form: "filter", columns: ["a"] }), "b"))).toEqual([
      "read t; columns: a, b (2 of 3)",
    ]);
    const letters = { batchSize: 1, batchFormat: "columns", maxInFlight: 1, onError: { deadLetter: "x" } } as const;
    expect(scans(fn(table(), { columns: ["a"], options: letters }))).toEqual(["read t"]);
  });

  test("[D6] a function that reads nothing still sees as many rows", () => {
    expect(scans(fn(table(), { columns: [] }))).toEqual(["read t; columns: a (1 of 3)"]);
  });

  test("[D6] raw SQL reads what its words name, or all", () => {
    expect(scans(select(filter(table(), sql("a > 5").expression), "b"))).toEqual(["read t; columns: a, b (2 of 3)"]);
    expect(scans(select(filter(table(), sql("hash(COLUMNS(*)) > 5").expression), "b"))).toEqual(["read t"]);
  });

  test("[D6] a sample by content reads all; what is not pruned is left alone", () => {
    expect(scans(select(sample(table(), { kind: "rows", rows: 5 }, 1), "a"))).toEqual(["read t"]);
    expect(scans(select(table("blocks", openSource(columns, { prunes: false })), "a"))).toEqual(["read blocks"]);
  });

  test("[D6] inputs of a union hand on the same columns", () => {
    const blocks = table("blocks", openSource(columns, { prunes: false }));
    const plan = pruneColumns(select(union([table("files"), blocks]), "b"));
    expect(planLines(plan)).toEqual([
      `select "b"`,
      "  union of 2",
      "    read files; columns: b (1 of 3)",
      `    select "b"`,
      "      read blocks",
    ]);
    expect(scans(select(union([table("files"), fn(table("more"))]), "b"))).toEqual(["read files", "read more"]);
  });

  test("[D6] groups read their keys and the aggregates that are wanted", () => {
    const groups = aggregate(
      table(),
      [{ name: "k", expression: col("a").modulo(2).expression }],
      [
        { name: "n", expression: col("b").count().expression },
        { name: "s", expression: col("c").sum().where(col("b").eq("x")).expression },
      ],
    );
    expect(planLines(pruneColumns(select(groups, "n")))).toEqual([
      `select "n"`,
      `  groupBy ("a" % 2) AS "k": count("b") AS "n"`,
      "    read t; columns: a, b (2 of 3)",
    ]);
    expect(scans(select(groups, "s"))).toEqual(["read t"]);
    expect(scans(aggregate(table(), [], [{ name: "n", expression: count().expression }]))).toEqual([
      "read t; columns: a (1 of 3)",
    ]);
  });

  test("[D6] orders, partitions and distinct columns read their keys, too", () => {
    const order = [{ expression: col("b").expression, descending: false, nulls: "last" as const }];
    expect(scans(select(sort(table(), order), "a"))).toEqual(["read t; columns: a, b (2 of 3)"]);
    expect(scans(select(shuffle(table(), 1), "a"))).toEqual(["read t; columns: a (1 of 3)"]);
    expect(scans(select(repartition(table(), { kind: "keys", keys: ["c"], count: null }), "a"))).toEqual([
      "read t; columns: a, c (2 of 3)",
    ]);
    expect(scans(select(distinct(table(), ["b"]), "a"))).toEqual(["read t; columns: a, b (2 of 3)"]);
    expect(scans(select(distinct(table(), null), "a"))).toEqual(["read t"]);
  });

  test("[D6] sides of a join read their keys and what is wanted of them", () => {
    const joined = (how: "inner" | "semi") =>
      join({ left: table("l"), right: table("r"), leftOn: ["a"], rightOn: ["a"], how, suffix: "_r" });
    expect(scans(select(joined("inner"), "b"))).toEqual([
      "read l; columns: a, b (2 of 3)",
      "read r; columns: a (1 of 3)",
    ]);
    expect(scans(joined("semi"))).toEqual(["read l", "read r; columns: a (1 of 3)"]);
    // The left's column is what the suffix comes from.
    expect(scans(select(joined("inner"), "c_r"))).toEqual([
      "read l; columns: a, c (2 of 3)",
      "read r; columns: a, c (2 of 3)",
    ]);
    expect(scans(select(zip(table("l"), table("r"), "_r"), "b"))).toEqual([
      "read l; columns: b (1 of 3)",
      "read r; columns: a (1 of 3)",
    ]);
  });

  test("[D6] functions that declare their columns get those, in any format; groups their keys besides", () => {
    const options = { batchSize: 1, batchFormat: "rows", maxInFlight: 1, onError: "fail", keys: ["b"] } as const;
    const node = fn(table(), { form: "mapGroups", columns: ["a"], options });
    expect(scans(node)).toEqual(["read t"]);
    const declared = Object.freeze({ ...node, fn: { ...node.fn, columnsDeclared: true } });
    expect(scans(declared)).toEqual(["read t; columns: a, b (2 of 3)"]);
  });
});
