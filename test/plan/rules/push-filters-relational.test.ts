import { describe, expect, test } from "vitest";
import { col, count, sql } from "../../../src/dataset/index.ts";
import {
  aggregate,
  distinct,
  type Expression,
  filter,
  type JoinKind,
  join,
  type Plan,
  planLines,
  repartition,
  shuffle,
  sort,
  zip,
} from "../../../src/plan/index.ts";
import { pushFilters } from "../../../src/plan/rules/index.ts";
import { fn, openSource, table, unknownTable } from "../fixtures.ts";

const text = (plan: Plan) => planLines(pushFilters(plan));
const where = (input: Plan, { expression }: { expression: Expression }) => filter(input, expression);
const named = (name: string, { expression }: { expression: Expression }) => ({ name, expression });
const typed = (columns: Readonly<Record<string, string>>) =>
  openSource(Object.entries(columns).map(([name, type]) => ({ name, type })));
const left = table("l", typed({ k: "BIGINT", x: "VARCHAR" }));
const right = table("r", typed({ k: "BIGINT", x: "DOUBLE", y: "DOUBLE" }));
const on = (how: JoinKind, other: Plan = right, rightOn = "k") =>
  join({ left, right: other, leftOn: ["k"], rightOn: [rightOn], how, suffix: "_right" });

describe("[D6] conditions go to the side of a join that they read", () => {
  const ofLeft = col("x").eq("a");
  const ofRight = col("x_right").gt(1).and(col("y").lt(2));
  const ofKeys = col("k").gt(5);

  test("[D6] inner: each to its own side, under its own names; keys to both", () => {
    expect(text(where(on("inner"), ofLeft.and(ofRight).and(ofKeys)))).toEqual([
      "inner join on k",
      `  read l; filter: ("x" = 'a') AND ("k" > 5)`,
      `  read r; filter: ("x" > 1) AND ("y" < 2) AND ("k" > 5)`,
    ]);
    expect(text(where(on("inner"), col("x").eq(col("y"))))[0]).toBe(`filter ("x" = "y")`);
  });

  test("[D6] left: never to the right, whose rows may be missing", () => {
    expect(text(where(on("left"), ofLeft.and(ofRight).and(ofKeys)))).toEqual([
      `filter (("x_right" > 1) AND ("y" < 2))`,
      "  left join on k",
      `    read l; filter: ("x" = 'a') AND ("k" > 5)`,
      `    read r; filter: ("k" > 5)`,
    ]);
    expect(text(where(on("left"), col("y").isNull()))[0]).toBe(`filter ("y" IS NULL)`);
  });

  test("[D6] right and full: never to a side whose rows may be missing; keys to both", () => {
    expect(text(where(on("right"), ofLeft.and(ofRight).and(ofKeys)))).toEqual([
      `filter ("x" = 'a')`,
      "  right join on k",
      `    read l; filter: ("k" > 5)`,
      `    read r; filter: ("x" > 1) AND ("y" < 2) AND ("k" > 5)`,
    ]);
    expect(text(where(on("full"), ofLeft.and(col("y").lt(2)).and(ofKeys)))).toEqual([
      `filter (("x" = 'a') AND ("y" < 2))`,
      "  full join on k",
      `    read l; filter: ("k" > 5)`,
      `    read r; filter: ("k" > 5)`,
    ]);
  });

  test("[D6] semi and anti have the left's columns only", () => {
    for (const how of ["semi", "anti"] as const) {
      expect(text(where(on(how), ofLeft.and(ofKeys)))).toEqual([
        `${how} join on k`,
        `  read l; filter: ("x" = 'a') AND ("k" > 5)`,
        `  read r; filter: ("k" > 5)`,
      ]);
    }
  });

  test("[D6] keys of other types, or of floats, are equal and not the same: asked only where they are shown", () => {
    expect(text(where(on("inner", right, "y"), ofKeys))).toEqual([
      "inner join on k = y",
      `  read l; filter: ("k" > 5)`,
      "  read r",
    ]);
    expect(text(where(on("full", right, "y"), ofKeys))[0]).toBe(`filter ("k" > 5)`);
    const floats = table("f", typed({ x: "DOUBLE", z: "BIGINT" }));
    const byFloat = join({ left: right, right: floats, leftOn: ["x"], rightOn: ["x"], how: "inner", suffix: "2" });
    expect(text(where(byFloat, col("x").gt(5))).at(-1)).toBe("  read f");
  });

  test("[D6] raw SQL and columns of unknown shape stay above", () => {
    expect(text(where(on("inner"), sql("k > 5")))[0]).toBe("filter (k > 5)");
    expect(text(where(on("inner", unknownTable()), col("z").gt(5)))[0]).toBe(`filter ("z" > 5)`);
    expect(text(where(on("semi", unknownTable()), col("z").gt(5)))[0]).toBe("semi join on k");
    expect(text(where(zip(left, right, "_right"), ofLeft))[0]).toBe(`filter ("x" = 'a')`);
  });
});

describe("[D6] conditions go through what keeps their rows apart", () => {
  test("[D6] groups: on keys alone, as they are computed", () => {
    const groups = aggregate(table(), [named("k", col("a").modulo(3)), named("b", col("b"))], [named("n", count())]);
    expect(text(where(groups, col("k").eq(1).and(col("b").ne("x")).and(col("n").gt(2))))).toEqual([
      `filter ("n" > 2)`,
      `  groupBy ("a" % 3) AS "k", "b": count(*) AS "n"`,
      `    read t; filter: (("a" % 3) = 1) AND ("b" <> 'x')`,
    ]);
    const raw = aggregate(table(), [named("k", sql("random()"))], [named("n", count())]);
    expect(text(where(raw, col("k").gt(1)))[0]).toBe(`filter ("k" > 1)`);
  });

  test("[D6] never into an aggregate of all rows, which gives one row even of none", () => {
    const total = aggregate(table(), [], [named("n", count())]);
    expect(text(where(total, col("n").gt(2)))[0]).toBe(`filter ("n" > 2)`);
  });

  test("[D6] distinct: of whole rows always, of some columns on those alone", () => {
    const big = col("a").gt(5);
    expect(text(where(distinct(table(), null), big))).toEqual(["distinct rows", `  read t; filter: ("a" > 5)`]);
    expect(text(where(distinct(table(), ["a"]), big))).toEqual(["distinct a", `  read t; filter: ("a" > 5)`]);
    expect(text(where(distinct(table(), ["b"]), big))[0]).toBe(`filter ("a" > 5)`);
    expect(text(where(distinct(table(), null), sql("random() > 0.5")))[0]).toContain("filter");
  });

  test("[D6] sorts, shuffles and repartitions", () => {
    const order = [{ expression: col("b").expression, descending: false, nulls: "last" as const }];
    const plan = repartition(shuffle(sort(table(), order), 7), { kind: "parts", count: 4 });
    expect(text(where(plan, col("a").gt(5)))).toEqual([
      "repartition into 4",
      "  randomShuffle (seed 7)",
      `    sort by "b"`,
      `      read t; filter: ("a" > 5)`,
    ]);
  });

  test("[D6] filter functions that declare their columns, no others", () => {
    const shipped = (columnsDeclared: boolean) => {
      const node = fn(table(), { form: "filter", columns: ["a"] });
      return Object.freeze({ ...node, fn: { ...node.fn, columnsDeclared } });
    };
    expect(text(where(shipped(true), col("c").gt(5))).at(-1)).toBe(`  read t; filter: ("c" > 5)`);
    expect(text(where(shipped(false), col("c").gt(5)))[0]).toBe(`filter ("c" > 5)`);
    expect(text(where(shipped(true), sql("c > 5")))[0]).toBe("filter (c > 5)");
  });
});
