/** NaN is one value, above every number, wherever it comes from: files of other writers, our own, functions, SQL. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { col, count, sql } from "spillway";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("nan");
const s = sessions.open();
const foreign = join(import.meta.dirname, "data", "nan-pyarrow.parquet");

const conditions = [
  { name: "above", where: col("x").gt(5), ids: [2, 5] },
  { name: "not below", where: col("x").ge(5), ids: [2, 5] },
  { name: "equal to NaN", where: col("x").eq(Number.NaN), ids: [2, 5] },
  { name: "equal to the only number of a row group", where: col("x").eq(1), ids: [0, 4, 6] },
  { name: "other than it", where: col("x").ne(1), ids: [1, 2, 3, 5] },
  { name: "below", where: col("x").lt(100), ids: [0, 1, 3, 4, 6] },
  { name: "one of", where: col("x").in([7, Number.NaN]), ids: [2, 5] },
  { name: "a FLOAT", where: col("f").gt(5), ids: [2, 5] },
  { name: "a field", where: sql("s.x > 5"), ids: [2, 5] },
  { name: "an element", where: sql("l[1] > 5"), ids: [2, 5] },
];

test.each(conditions)(
  "[D6] a condition on files of another writer whose statistics leave NaN out: $name",
  async (one) => {
    const rows = s.readParquet<{ id: number; x: number; f: number }>(foreign).where(one.where);
    expect((await rows.takeAll()).map(({ id }) => id)).toEqual(one.ids);
    expect((await rows.sort("id").takeAll()).map(({ id }) => id)).toEqual(one.ids);
    expect(await rows.count()).toBe(one.ids.length);
  },
);

test("[D6] NaN joins with NaN of such a file, and row groups without any match are still left out", async () => {
  const rows = s.readParquet<{ id: number; x: number }>(foreign);
  const keys = s.fromItems([{ x: Number.NaN }, { x: 9 }]);
  expect((await rows.join(keys, { on: "x" }).sort("id").takeAll()).map(({ id }) => id)).toEqual([2, 5]);
  expect(await rows.where(col("x").lt(0)).explain()).toContain("statistics leave 0 of 2 row groups");
});

test("[A13] NaN of either sign that was written is found again, and names one folder", async () => {
  const path = join(sessions.directory, "written");
  const made = s
    .range(2_000)
    .select("id", sql("CAST(CASE WHEN id % 2 = 0 THEN '-nan' ELSE 'nan' END AS DOUBLE)").as("x"));
  for (const [name, rows] of [
    ["sql", made],
    ["function", made.map((row) => ({ ...row }))],
  ] as const) {
    await rows.writeParquet(join(path, name));
    expect(await s.readParquet(join(path, name)).where(col("x").eq(Number.NaN)).count()).toBe(2_000);
    await rows.writeJson(join(path, `${name}-folders`), { partitionBy: "x" });
    expect([
      existsSync(join(path, `${name}-folders`, "x=nan")),
      existsSync(join(path, `${name}-folders`, "x=-nan")),
    ]).toEqual([true, false]);
  }
});

test("[A8] [A9] NaN of either sign is one key after functions, with and without exchange", async () => {
  const exchange = sessions.open({ exchange: true });
  for (const each of [s, exchange]) {
    const rows = each
      .range(40, { overrideNumBlocks: 4 })
      .select("id", sql("CAST(CASE WHEN id % 2 = 0 THEN '-nan' ELSE 'nan' END AS DOUBLE)").as("x"))
      .map((row) => ({ ...row }));
    expect(await rows.groupBy("x").agg({ n: count() }).takeAll()).toEqual([{ x: Number.NaN, n: 40 }]);
    const groups = rows.groupBy("x").mapGroups((group) => ({ n: [group.x.length] }));
    expect(await groups.takeAll()).toEqual([{ n: 40 }]);
    expect(await rows.select("x").distinct().count()).toBe(1);
    expect(await rows.join(rows.where(col("id").lt(1)).select("x"), { on: "x" }).count()).toBe(40);
    expect(await rows.join(rows.where(col("id").lt(2)).select("x"), { on: "x", how: "semi" }).count()).toBe(40);
    expect(await rows.countDistinct("x")).toBe(1);
  }
});
