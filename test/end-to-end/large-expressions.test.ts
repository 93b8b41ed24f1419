/**
 * Expressions of many values, and of many others inside each other: right, and planned in a time that users wait for.
 */
import { join } from "node:path";
import { col, lit, sql } from "spillway";
import { beforeAll, describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("large-expressions");
const s = sessions.open({ preserveOrder: true });
const at = (name: string) => join(sessions.directory, name);

beforeAll(async () => {
  await s.range(3000).writeParquet(at("ids"));
});

describe("[A3] long lists", () => {
  const even = Array.from({ length: 100_000 }, (_, i) => i * 2);

  test("[A3] in and notIn take 100,000 numbers, over sources, files and functions", async () => {
    expect(await s.range(3000).where(col("id").in(even)).count()).toBe(1500);
    expect(await s.readParquet(at("ids")).where(col("id").notIn(even)).count()).toBe(1500);
    const mapped = s.range(3000).map(({ id }) => ({ id, half: id / 2 }));
    expect(await mapped.where(col("id").in(even)).count()).toBe(1500);
    expect(await mapped.where(col("half").in(even)).count()).toBe(750);
  });

  test("[A3] as a column, with bigints, and with texts", async () => {
    const some = s.range(3).withColumn("even", col("id").in(even));
    expect((await some.takeAll()).map((row) => row.even)).toEqual([true, false, true]);
    expect(
      await s
        .range(3000)
        .where(col("id").in(even.map(BigInt)))
        .count(),
    ).toBe(1500);
    const texts = s.range(3).withColumn("text", sql("'t' || id"));
    expect(await texts.where(col("text").in(even.map((id) => `t${id}`))).count()).toBe(2);
  });

  test("[A3] a null in a long list makes notIn of nothing true, as in a short one", async () => {
    expect(
      await s
        .range(3000)
        .where(col("id").notIn([...even, null]))
        .count(),
    ).toBe(0);
    expect(
      await s
        .range(3000)
        .where(col("id").in([...even, null]))
        .count(),
    ).toBe(1500);
  });
});

describe("[A3] deep expressions", () => {
  type Sum = ReturnType<typeof first>;
  const first = () => col("id").add(0);
  const sum = (terms: number): Sum => {
    let all = first();
    for (let i = 0; i < terms; i++) all = all.add(1);
    return all;
  };
  const ids = [0, 1, 2];

  test("[A3] 900 sums in each other: a column, a condition, a key, an order, an aggregate", async () => {
    const three = s.range(3);
    const deep = sum(900);
    expect(await three.withColumn("x", deep).takeAll()).toEqual(ids.map((id) => ({ id, x: id + 900 })));
    expect(await three.withColumn("id", deep).takeAll()).toEqual(ids.map((id) => ({ id: id + 900 })));
    expect(await three.select(deep.as("x"), sum(700).as("y")).takeAll()).toEqual(
      ids.map((id) => ({ x: id + 900, y: id + 700 })),
    );
    expect(await three.where(deep.gt(900).and(col("id").lt(2))).takeAll()).toEqual([{ id: 1 }]);
    expect(await three.sort(deep, { descending: true }).takeAll()).toEqual([{ id: 2 }, { id: 1 }, { id: 0 }]);
    expect(await three.groupBy(deep.as("k")).count().sort("k").takeAll()).toEqual(
      ids.map((id) => ({ k: id + 900, count: 1 })),
    );
    expect(await three.agg({ total: deep.sum() })).toEqual({ total: 2703 });
  });

  test("[A3] over files and after functions", async () => {
    const deep = sum(900);
    expect(await s.readParquet(at("ids")).where(deep.lt(903)).takeAll()).toEqual(ids.map((id) => ({ id })));
    const mapped = s.range(3).map(({ id }) => ({ id }));
    expect(await mapped.withColumn("x", deep).takeAll()).toEqual(ids.map((id) => ({ id, x: id + 900 })));
    expect(await mapped.withColumn("id", deep).takeAll()).toEqual(ids.map((id) => ({ id: id + 900 })));
    expect(await mapped.where(deep.ge(901)).takeAll()).toEqual([{ id: 1 }, { id: 2 }]);
    expect(await mapped.sort(deep, { descending: true }).takeAll()).toEqual([{ id: 2 }, { id: 1 }, { id: 0 }]);
  });

  test("[A3] what a condition keeps from being computed is not computed", async () => {
    const texts = s.fromItems([{ text: "1" }, { text: "x" }]);
    let deep = col("text").cast("BIGINT").add(0);
    for (let i = 0; i < 60; i++) deep = deep.add(1);
    expect(await texts.where(col("text").ne("x").and(deep.gt(0))).takeAll()).toEqual([{ text: "1" }]);
    const guarded = texts.withColumn("n", deep.tryCast("BIGINT").coalesce(lit(0)));
    await expect(guarded.takeAll()).rejects.toThrow(/Could not convert/);
  });
});
