/** A plan is resolved once: what one call asked of the kernel, no other call and no dataset made of it asks again. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { col, fromItems, range, readCsv, sql } from "../../src/dataset/index.ts";
import { folder, ownEngine } from "./people.ts";

/** What the call asks of the kernel. */
async function questions(engine: ReturnType<typeof ownEngine>, call: () => Promise<unknown>): Promise<number> {
  const before = engine.inspected.length;
  await call();
  return engine.inspected.length - before;
}

test.each([{ exchange: false }, { exchange: true }])(
  "[R8] a second call asks nothing, exchange $exchange",
  async (options) => {
    const engine = ownEngine(options);
    const ids = range(engine, 10);
    const joined = ids
      .withColumn("twice", col("id").mul(2))
      .join(ids.rename({ id: "twice" }), { on: "twice" })
      .where(sql("twice > 2"))
      .union(range(engine, 3).withColumn("twice", col("id").mul(1.5)));
    expect(await questions(engine, () => joined.takeAll())).toBeGreaterThan(0);
    for (const call of [() => joined.explain(), () => joined.count(), () => joined.takeAll()]) {
      expect(await questions(engine, call)).toBe(0);
    }
    await joined.schema();
    expect(await questions(engine, () => joined.schema())).toBe(0);
  },
);

test("[R8] a dataset made of another asks for what is new in it alone", async () => {
  const engine = ownEngine();
  const ids = range(engine, 10);
  const other = ids.join(ids.where(sql("id < 5")), { on: "id" });
  await other.schema();
  expect(await questions(engine, () => other.limit(3).takeAll())).toBe(0);
  expect(await questions(engine, () => other.join(ids, { on: "id" }).takeAll())).toBe(0);
  expect(await questions(engine, () => other.where(sql("id < 4")).takeAll())).toBeLessThanOrEqual(2);
});

test("[R8] a failure is not kept: a file that was missing is read when it is there", async () => {
  const engine = ownEngine();
  const path = join(folder, "late.csv");
  const ds = readCsv(engine, path).withColumn("b", col("a").add(1));
  await expect(ds.takeAll()).rejects.toThrow(/there is no file/);
  writeFileSync(path, "a\n1\n");
  expect(await ds.takeAll()).toEqual([{ a: 1, b: 2 }]);
});

test("[R6] rows that were let go of are not read, although the plan over them is known", async () => {
  const engine = ownEngine();
  const kept = await fromItems(engine, [{ a: 1 }]).materialize();
  const more = kept.withColumn("b", col("a").add(1));
  expect(await more.takeAll()).toEqual([{ a: 1, b: 2 }]);
  kept.dispose();
  for (const call of [() => more.takeAll(), () => more.count(), () => kept.count()]) {
    await expect(call()).rejects.toThrow(/disposed of; its rows are gone/);
  }
});
