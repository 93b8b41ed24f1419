import { describe, expect, test } from "vitest";
import { col } from "../../../src/dataset/index.ts";
import {
  distinct,
  filter,
  type JoinKind,
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

  test("[D6] stand right above a sort, which then keeps so many rows", () => {
    const sorted = sort(table(), [{ expression: col("b").expression, descending: false, nulls: "last" }]);
    expect(lines(limit(select(sorted), 1, 3))).toEqual([
      `select "a"`,
      "  limit 3 offset 1",
      `    sort by "b"`,
      "      read t",
    ]);
    expect(lines(limit(fn(select(sorted)), 0, 3)).map((line) => line.trim())).toEqual([
      "map(f)",
      `select "a"`,
      "limit 3",
      `sort by "b"`,
      "read t",
    ]);
  });

  test("[D6] go into the inputs of a union, and stay above it", () => {
    expect(lines(limit(union([table("one"), fn(table("two"))]), 1, 2))).toEqual([
      "limit 2 offset 1",
      "  union of 2",
      "    read one; first 3 rows",
      "    map(f)",
      "      limit 3",
      "        read two; first 3 rows",
    ]);
  });

  test("[D6] go to the left of a left join, where each row gives one at least, and of no other", () => {
    const joined = (how: JoinKind) =>
      join({
        left: fn(table("l"), { form: "flatMap" }),
        right: table("r"),
        leftOn: ["a"],
        rightOn: ["a"],
        how,
        suffix: "2",
      });
    expect(lines(limit(joined("left"), 2, 3))).toEqual([
      "limit 3 offset 2",
      "  left join on a",
      "    limit 5",
      "      flatMap(f)",
      "        read l",
      "    read r",
    ]);
    for (const how of ["inner", "right", "full", "semi", "anti"] as const) {
      expect(lines(limit(joined(how), 0, 3))).toHaveLength(5);
    }
  });

  test("[D6] go below repartitions that keep the order, not below what needs all rows", () => {
    expect(lines(limit(repartition(table(), { kind: "parts", count: 3 }), 0, 2))).toEqual([
      "repartition into 3",
      "  limit 2",
      "    read t; first 2 rows",
    ]);
    for (const plan of [
      repartition(table(), { kind: "keys", keys: ["a"], count: null }),
      shuffle(table(), 1),
      distinct(table(), null),
    ]) {
      expect(lines(limit(plan, 0, 2)).at(-1)).toBe("    read t");
    }
  });
});
