import { describe, expect, test } from "vitest";
import { col, count, lit, sql } from "../../src/dataset/index.ts";
import { OptionError, UnknownColumnError } from "../../src/errors/index.ts";
import {
  aggregate,
  type Column,
  columnsOf,
  distinct,
  type Expression,
  filter,
  type JoinKind,
  join,
  type Plan,
  planLines,
  project,
  repartition,
  resolve,
  sort,
  zip,
} from "../../src/plan/index.ts";
import { columns, fn, openSource, table, unknownTable } from "./fixtures.ts";

const named = (name: string, { expression }: { expression: Expression }) => ({ name, expression });
const never = async (): Promise<readonly Column[]> => [];
const lines = async (plan: Plan) => planLines(await resolve(plan, never));
const refused = (plan: Plan) => resolve(plan, never).then(String, (error: Error) => error);
const groups = (...items: readonly ReturnType<typeof named>[]) => aggregate(table(), [named("b", col("b"))], items);

describe("[A8] groups are checked before anything runs", () => {
  test("[A8] every column is one of the input's, inside aggregates and in their conditions, too", async () => {
    const wrong = [
      aggregate(table(), [named("k", col("cc").year())], [named("n", count())]),
      groups(named("n", col("cc").sum())),
      groups(named("n", col("c").sum().where(col("cc").gt(1)))),
      groups(named("n", col("cc").add(1))),
    ];
    for (const plan of wrong) {
      const error = await refused(plan);
      expect(error).toBeInstanceOf(UnknownColumnError);
      expect(String(error)).toContain('"c"');
    }
    expect(await refused(aggregate(unknownTable(), [], [named("n", col("cc").sum())]))).toBe("[object Object]");
  });

  test("[A8] a column that is no key has many values in a group", async () => {
    const error = await refused(groups(named("x", col("a").add(col("c").sum()))));
    expect(error).toBeInstanceOf(OptionError);
    expect(String(error)).toContain(
      'agg: "x" takes "a", which is not a key, so a group has many values of it: make it a key of groupBy, or choose one: col("a").first()',
    );
    expect(String(await refused(aggregate(table(), [], [named("x", col("a"))])))).toContain(
      "has many values of it: choose one",
    );
  });

  test("[A8] aggregates stand in aggregates only, and not in each other", async () => {
    const total = col("a").sum();
    const wrong: readonly (readonly [Plan, string])[] = [
      [
        filter(table(), total.gt(1).expression),
        'filter: sum("a") needs many rows, but filter looks at one row at a time.',
      ],
      [project(table(), "with", [named("t", total)], "withColumn"), "withColumn: sum"],
      [project(table(), "select", [named("t", total)], "select"), "select: sum"],
      [sort(table(), [{ expression: total.expression, descending: false, nulls: "last" }]), "sort: sum"],
      [aggregate(table(), [named("k", total)], [named("n", count())]), "groupBy: sum"],
      [groups(named("n", total.max())), "is inside another aggregate"],
      [groups(named("n", col("a").max().where(total.gt(1)))), "is inside another aggregate"],
    ];
    for (const [plan, message] of wrong) {
      const error = await refused(plan);
      expect(error).toBeInstanceOf(OptionError);
      expect(String(error)).toContain(message);
    }
  });

  test("[A8] what is computed of keys and aggregates together is computed after them", async () => {
    expect(await lines(groups(named("x", col("b").concat(count().cast("VARCHAR"))), named("n", count())))).toEqual([
      `agg "b", ("b" || CAST("__spillway_aggregate_0" AS VARCHAR)) AS "x", "__spillway_aggregate_1" AS "n"`,
      `  groupBy "b": count(*) AS "__spillway_aggregate_0", count(*) AS "__spillway_aggregate_1"`,
      "    read t",
    ]);
    // Raw SQL may be an aggregate itself.
    expect(await lines(groups(named("x", sql("bit_xor(a)")), named("y", col("b"))))).toEqual([
      `agg "b", "__spillway_aggregate_0" AS "x", "b" AS "y"`,
      `  groupBy "b": (bit_xor(a)) AS "__spillway_aggregate_0"`,
      "    read t",
    ]);
    expect(await lines(groups(named("x", lit(1))))).toEqual([`groupBy "b": 1 AS "x"`, "  read t"]);
  });

  test("[A8] the keys of mapGroups are columns", async () => {
    const options = { batchSize: 1, batchFormat: "columns", maxInFlight: 1, onError: "fail", keys: ["bb"] } as const;
    expect(await refused(fn(table(), { form: "mapGroups", options }))).toBeInstanceOf(UnknownColumnError);
  });
});

describe("[A9] joins and orders are checked before anything runs", () => {
  const typed = (...names: readonly (readonly [string, string])[]) =>
    table("r", openSource(names.map(([name, type]) => ({ name, type }))));
  const on = (right: Plan, leftOn: string, rightOn: string, how: JoinKind = "inner", suffix = "_r") =>
    join({ left: table("l"), right, leftOn: [leftOn], rightOn: [rightOn], how, suffix });

  test("[A9] keys are columns of their side", async () => {
    expect(await refused(on(table(), "aa", "a"))).toBeInstanceOf(UnknownColumnError);
    expect(await refused(on(table(), "a", "aa"))).toBeInstanceOf(UnknownColumnError);
    expect(await refused(distinct(table(), ["aa"]))).toBeInstanceOf(UnknownColumnError);
    expect(
      await refused(sort(table(), [{ expression: col("aa").expression, descending: false, nulls: "last" }])),
    ).toBeInstanceOf(UnknownColumnError);
    expect(await refused(repartition(table(), { kind: "keys", keys: ["aa"], count: null }))).toBeInstanceOf(
      UnknownColumnError,
    );
  });

  test("[A9] keys of types that are never equal are refused, with the remedy", async () => {
    const error = await refused(on(typed(["k", "VARCHAR"]), "a", "k"));
    expect(error).toBeInstanceOf(OptionError);
    expect(String(error)).toContain(
      'the key "a" is BIGINT on the left and "k" VARCHAR on the right, which are never equal. Cast one of them: withColumn("k", col("k").cast("BIGINT"))',
    );
    for (const type of ["DOUBLE", "DECIMAL(12,2)", "UTINYINT", "NULL"]) {
      await resolve(on(typed(["k", type]), "a", "k"), never);
    }
    const described = resolve(on(filter(typed(["k", "BIGINT"]), col("k").gt(1).expression), "a", "k"), async () => [
      { name: "k", type: "DATE" },
    ]);
    await expect(described).rejects.toThrow("DATE on the right");
    // After a function types are not known, and nothing is said of them.
    await resolve(on(fn(table()), "a", "b"), never);
  });

  test("[A9] columns of both sides: the left's, then the right's without its keys, suffixed where taken", async () => {
    expect(columnsOf(on(table(), "a", "a"))).toEqual(["a", "b", "c", "b_r", "c_r"]);
    expect(columnsOf(on(typed(["k", "BIGINT"], ["c", "DATE"], ["z", "DATE"]), "a", "k", "full"))).toEqual([
      "a",
      "b",
      "c",
      "c_r",
      "z",
    ]);
    expect(columnsOf(on(table(), "a", "b"))).toEqual(["a", "b", "c", "a_r", "c_r"]);
    expect(columnsOf(on(unknownTable(), "a", "b", "anti"))).toEqual(["a", "b", "c"]);
    expect(columnsOf(on(unknownTable(), "a", "b"))).toBe(null);
    expect(columnsOf(zip(table(), table(), "2"))).toEqual(["a", "b", "c", "a2", "b2", "c2"]);
  });

  test("[A9] two columns of one name are refused", async () => {
    const taken = typed(["a", "BIGINT"], ["b", "VARCHAR"], ["b_r", "VARCHAR"]);
    expect(String(await refused(on(taken, "a", "a")))).toContain(
      'join: two columns would be called "b_r". Give another suffix',
    );
    const twice = table("l", openSource([...columns, { name: "a_r", type: "DATE" }]));
    expect(String(await refused(zip(twice, table(), "_r")))).toContain('zip: two columns would be called "a_r"');
  });

  test("[A9] a constant orders nothing", async () => {
    const key = (expression: Expression) => ({ expression, descending: false, nulls: "last" as const });
    expect(await lines(sort(table(), [key(lit(2).expression), key(col("a").expression)]))).toEqual([
      `sort by "a"`,
      "  read t",
    ]);
    expect(await lines(sort(table(), [key(lit(2).expression)]))).toEqual(["read t"]);
  });
});
