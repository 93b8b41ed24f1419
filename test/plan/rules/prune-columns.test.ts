import { describe, expect, test } from "vitest";
import { col, sql } from "../../../src/dataset/index.ts";
import { explode, filter, limit, type Plan, planLines, project, sample, union } from "../../../src/plan/index.ts";
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
});
