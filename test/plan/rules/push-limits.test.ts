import { describe, expect, test } from "vitest";
import { col } from "../../../src/dataset/index.ts";
import { filter, limit, type Plan, planLines, project } from "../../../src/plan/index.ts";
import { pushFilters, pushLimits } from "../../../src/plan/rules/index.ts";
import { fn, table } from "../fixtures.ts";

const lines = (plan: Plan) => planLines(pushLimits(plan));
const select = (input: Plan) => project(input, "select", [{ name: "a", expression: col("a").expression }], "select");

describe("[D6] limits", () => {
  test("[D6] go below a row function, so that no other row is computed", () => {
    expect(lines(limit(select(fn(table())), 2, 3))).toEqual([
      `select "a"`,
      "  map(f)",
      "    limit 3 offset 2",
      "      read t; first 5 rows",
    ]);
  });

  test("[D6] not below functions that may drop or add rows", () => {
    const skipping = { batchSize: 1, batchFormat: "columns", maxInFlight: 1, onError: "skip" } as const;
    for (const node of [
      fn(table(), { form: "flatMap" }),
      fn(table(), { form: "filter" }),
      fn(table(), { form: "mapBatches" }),
      fn(table(), { options: skipping }),
    ]) {
      expect(lines(limit(node, 0, 3))[0]).toBe("limit 3");
    }
  });

  test("[D6] tell a scan how many rows are needed, unless rows are dropped on the way", () => {
    expect(lines(limit(select(table()), 10, 5)).at(-1)).toBe("    read t; first 15 rows");
    expect(lines(pushFilters(limit(filter(table(), col("a").gt(1).expression), 0, 5))).at(-1)).not.toContain("first");
    expect(lines(limit(table(), 5, null)).at(-1)).toBe("  read t");
  });
});
