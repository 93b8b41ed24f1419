/**
 * Names that differ only in case from those that a function made: refused as they are where columns are known before.
 */
import { join } from "node:path";
import { type AnyRow, col, count, type Dataset, OptionError, UnknownColumnError } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("name-case");
const rows = Array.from({ length: 12 }, (_, n) => ({ n, k: n % 3, list: [n], maybe: n % 2 === 0 ? null : 1 }));
type Any = Dataset<AnyRow>;

describe.each([{ exchange: false }, { exchange: true }])("exchange $exchange", ({ exchange }) => {
  const s = sessions.open({ workers: 2, exchange });
  const known = (): Any => s.fromItems<AnyRow>(rows);
  const made = (): Any => known().map((row) => ({ ...row }));
  const other = (): Any => s.fromItems<AnyRow>(rows.map(({ n, k }) => ({ id: n, k, right: `r${n}` })));
  const none = (): Any => other().where(col("id").gt(99));
  const errorOf = async (dataset: Any): Promise<unknown> =>
    dataset.takeAll().then(
      (got) => got,
      (thrown: unknown) => thrown,
    );

  const unknown: Readonly<Record<string, (ds: Any) => Any>> = {
    select: (ds) => ds.select("N"),
    "select of an expression": (ds) => ds.select(col("N").add(1).as("m")),
    drop: (ds) => ds.drop("N"),
    rename: (ds) => ds.rename({ N: "m" }),
    where: (ds) => ds.where(col("N").gt(1)),
    withColumn: (ds) => ds.withColumn("m", col("N").add(1)),
    dropNull: (ds) => ds.dropNull(["Maybe"]),
    fillNull: (ds) => ds.fillNull({ Maybe: 0 }),
    explode: (ds) => ds.explode("List"),
    sort: (ds) => ds.sort("N"),
    "sort and limit": (ds) => ds.sort("N", { descending: true }).limit(2),
    topN: (ds) => ds.topN(1, { by: "N", partitionBy: "k" }),
    "topN, partitions": (ds) => ds.topN(1, { by: "n", partitionBy: "K" }),
    distinct: (ds) => ds.distinct("N"),
    groupBy: (ds) => ds.groupBy("K").count(),
    "groupBy of an expression": (ds) => ds.groupBy(col("N").add(2).as("more")).count(),
    agg: (ds) => ds.groupBy("k").agg({ most: col("N").max() }),
    mapGroups: (ds) => ds.groupBy("K").mapGroups(() => ({ a: [1] })),
    "over, partitions": (ds) => ds.withColumn("m", col("n").sum().over({ partitionBy: "K" })),
    "over, order": (ds) => ds.withColumn("m", col("n").sum().over({ partitionBy: "k", orderBy: "N" })),
    "where over": (ds) => ds.where(col("N").max().over({ partitionBy: "k" }).gt(9)),
    "join, left": (ds) => ds.join(other(), { leftOn: "N", rightOn: "id" }),
    "join, right": (ds) => other().join(ds, { leftOn: "id", rightOn: "N" }),
    "join, both": (ds) => ds.join(other(), { on: "K" }),
    "semi join": (ds) => ds.join(other(), { leftOn: "N", rightOn: "id", how: "semi" }),
    "above a semi join": (ds) => ds.join(other(), { on: "k", how: "semi" }).select("N"),
    "above a join with nothing": (ds) =>
      ds.join(none(), { leftOn: "n", rightOn: "id", how: "left" }).rename({ N: "m" }),
    "the right's, above a join with nothing": (ds) =>
      ds.join(none(), { leftOn: "n", rightOn: "id", how: "left" }).select("n", "Right"),
    "above a join with nothing of a function": (ds) =>
      ds
        .join(
          none().map((row) => ({ ...row })),
          { leftOn: "n", rightOn: "id", how: "left" },
        )
        .sort("N"),
    "above a join": (ds) => ds.join(other(), { leftOn: "n", rightOn: "id" }).select("n", "Right"),
    "repartition by keys": (ds) => ds.repartition({ keys: ["K"], count: 2 }),
    "columns of a function": (ds) => ds.map(({ N }) => ({ N }), { columns: ["N"] }),
    "columns of a filter": (ds) => ds.filter(({ N }) => Number(N) > 1, { columns: ["N"] }),
    "a column that nobody reads": (ds) => ds.withColumn("m", col("N").add(1)).select("n"),
    "behind a rename": (ds) => ds.rename({ n: "m" }).sort("M"),
    "behind a withColumn": (ds) => ds.withColumn("m", col("n").add(1)).where(col("M").gt(2)),
    "behind a union": (ds) => ds.union(made()).sort("N"),
  };
  for (const [name, apply] of Object.entries(unknown)) {
    test(`[A6] [A7] ${name}: a name in another case is an unknown column after a function, too`, async () => {
      const [before, after] = [await errorOf(apply(known())), await errorOf(apply(made()))];
      expect(before).toBeInstanceOf(UnknownColumnError);
      expect(after).toBeInstanceOf(UnknownColumnError);
      expect(after).toMatchObject({
        message: expect.stringMatching(/there is no column "\w+"\. Did you mean "\w+"\?/),
      });
      if (before instanceof UnknownColumnError) expect(after).toMatchObject({ column: before.column });
    });
  }

  const twice: Readonly<Record<string, (ds: Any) => Any>> = {
    withColumn: (ds) => ds.withColumn("N", col("k")),
    "withColumn over": (ds) => ds.withColumn("N", col("k").sum().over({ partitionBy: "k" })),
    "a column that nobody reads": (ds) => ds.withColumn("N", col("k")).select("k"),
    rename: (ds) => ds.rename({ k: "N" }),
    "behind another": (ds) => ds.withColumn("m", col("n")).rename({ k: "M" }),
    "above a join": (ds) => ds.join(other(), { leftOn: "n", rightOn: "id" }).withColumn("RIGHT", col("n")),
  };
  for (const [name, apply] of Object.entries(twice)) {
    test(`[A7] ${name}: a column that differs only in case from one of a function is refused`, async () => {
      const [before, after] = [await errorOf(apply(known())), await errorOf(apply(made()))];
      expect(before).toBeInstanceOf(OptionError);
      expect(after).toBeInstanceOf(OptionError);
      expect(String(after)).toContain("differ only in case");
      if (before instanceof OptionError) expect(after).toHaveProperty("message", before.message);
    });
  }

  test("[A9] partitionBy in another case is an unknown column after a function, too", async () => {
    for (const [i, options] of [{}, { maxRowsPerFile: 2 }].entries()) {
      for (const from of [known, made, () => made().sort("n")]) {
        const into = join(sessions.directory, `partitions-${exchange}-${i}`);
        const given = { partitionBy: ["K"], ...options };
        for (const write of [
          () => from().drop("list").writeParquet(into, given),
          () => from().writeJson(into, given),
        ]) {
          const error: unknown = await write().catch((thrown: unknown) => thrown);
          expect(error).toBeInstanceOf(UnknownColumnError);
          expect(error).toMatchObject({ column: "K", message: expect.stringContaining("partitionBy") });
        }
      }
    }
  });

  test("[A6] [A7] a union of other columns is refused behind a sort and a group, too", async () => {
    const renamed = (): Any => made().rename({ n: "N" });
    const unions: readonly Any[] = [
      made().union(renamed()),
      made().sort("n").union(renamed()),
      known().sort("n").union(renamed()),
      made().sort("n").union(renamed().sort("N")),
      made().sort("n").union(made().drop("k").sort("n")),
      made()
        .sort("n")
        .union(made().sort("n").withColumn("more", col("n"))),
      made().sort("n").select("n").union(made().groupBy("n").count()),
    ];
    for (const union of unions) {
      const error = await errorOf(union);
      expect(String(error)).toContain("union: the columns differ");
    }
    expect(
      await made()
        .sort("n")
        .union(made().select("maybe", "list", "k", "n").sort("n"))
        .count(),
    ).toBe(24);
  });

  test("[A6] sides without rows are no reason to refuse a name", async () => {
    const none = (): Any =>
      known()
        .where(col("n").gt(99))
        .map((row) => ({ ...row }));
    expect(await none().sort("N").takeAll()).toEqual([]);
    expect(await made().sort("n").union(none().drop("k").sort("n")).count()).toBe(12);
    const opaque = (row: AnyRow): AnyRow => Object.fromEntries(Object.entries(row));
    const few = known().where(col("n").lt(1)).map(opaque);
    const joined = known().join(few, { on: "n", how: "left" }).withColumn("m", col("k_right"));
    expect(await joined.select("n").count()).toBe(12);
    expect(await joined.where(col("k_right").isNull()).count()).toBe(11);
    const nobody = known().join(
      few.filter(() => false),
      { on: "n", how: "left" },
    );
    expect(await nobody.withColumn("m", col("n")).count()).toBe(12);
  });

  test("[A7] a name in another case is free once its column is gone", async () => {
    const head = async (ds: Any) => (await ds.sort(col("k")).limit(1).takeAll()).map((row) => Object.keys(row));
    expect(await head(made().drop("n").withColumn("N", col("k")))).toEqual([["k", "list", "maybe", "N"]]);
    expect(await head(made().rename({ n: "N" }))).toEqual([["N", "k", "list", "maybe"]]);
    expect(await head(made().rename({ n: "m" }).withColumn("N", col("m")))).toEqual([["m", "k", "list", "maybe", "N"]]);
    expect(await head(made().select(col("n").as("N"), "k"))).toEqual([["N", "k"]]);
    expect(await head(made().select(col("k"), col("n").as("K2")).withColumn("N", col("K2")))).toEqual([
      ["k", "K2", "N"],
    ]);
    expect(await made().groupBy("k").agg({ N: count() }).count()).toBe(3);
    expect(
      await head(
        made()
          .select("n", "k")
          .join(
            other().map((row) => ({ ...row })),
            { leftOn: "n", rightOn: "id" },
          )
          .rename({ right: "RIGHT" })
          .withColumn("right_2", col("RIGHT")),
      ),
    ).toEqual([["n", "k", "k_right", "RIGHT", "right_2"]]);
  });
});
