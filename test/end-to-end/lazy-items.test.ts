/** fromItems over iterators: read as far as they are needed, and no further (A1). */
import { CancelledError, col, count, RowShapeError } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("lazy-items");
const s = sessions.open({ workers: 2, preserveOrder: true });

function* numbers(end = Number.POSITIVE_INFINITY, read: number[] = []) {
  for (let id = 0; id < end; id++) {
    read.push(id);
    yield { id, even: id % 2 === 0, text: id < 3 ? null : `row ${id}` };
  }
}

async function* later(end = Number.POSITIVE_INFINITY, read: number[] = []) {
  for (const row of numbers(end, read)) {
    await new Promise((resolve) => setImmediate(resolve));
    yield row;
  }
}

const ids = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id);

describe.each([
  ["a generator", numbers],
  ["an async generator", later],
] as const)("%s", (_, make) => {
  test("[A1] that never ends is read for as many rows as are taken, and read on where more are wanted", async () => {
    const read: number[] = [];
    const ds = s.fromItems(make(undefined, read));
    expect(await ds.explain()).toContain("fromItems");
    expect(read).toEqual([]);
    expect(ids(await ds.take(5))).toEqual([0, 1, 2, 3, 4]);
    expect(read.length).toBe(5);
    const mapped = ds.map((row) => ({ id: row.id * 2 }));
    expect(ids(await mapped.take(7))).toEqual([0, 2, 4, 6, 8, 10, 12]);
    expect(ids(await ds.select("id").offset(6).limit(3).takeAll())).toEqual([6, 7, 8]);
    expect(read.length).toBe(9);
    expect(ids(await ds.take(2))).toEqual([0, 1]);
  });

  test("[A1] that ends gives the same rows each time, to functions and SQL", async () => {
    const ds = s.fromItems(make(1000));
    expect(await ds.count()).toBe(1000);
    expect(await ds.where(col("even")).count()).toBe(500);
    expect(ids(await ds.sort("id", { descending: true }).take(2))).toEqual([999, 998]);
    expect(await ds.groupBy("even").agg({ n: count() }).sort("even").takeAll()).toEqual([
      { even: false, n: 500 },
      { even: true, n: 500 },
    ]);
    expect(String(await ds.schema())).toBe("id: DOUBLE\neven: BOOLEAN\ntext: VARCHAR");
    expect((await ds.filter((row) => row.text === "row 7").takeAll()).length).toBe(1);
  });

  test("[A1] relational work is the first that reads it", async () => {
    const sums = await s
      .fromItems(make(100))
      .groupBy("even")
      .agg({ total: col("id").sum() })
      .sort("even")
      .takeAll();
    expect(sums.map(({ total }) => total)).toEqual([2500, 2450]);
    const right = s.fromItems([{ id: 7, name: "seven" }]);
    expect(await s.fromItems(make(100)).join(right, { on: "id" }).select("id", "name").takeAll()).toEqual([
      { id: 7, name: "seven" },
    ]);
    expect(await s.fromItems(make(0)).takeAll()).toEqual([]);
  });

  test("[A1] [A17] that never ends is not read on after its call was cancelled", async () => {
    const read: number[] = [];
    const ds = s.fromItems(make(undefined, read));
    await expect(ds.where(col("id").lt(0)).takeAll({ timeout: 50 })).rejects.toThrow(CancelledError);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const after = read.length;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(read.length).toBe(after);
    expect(ids(await ds.take(2))).toEqual([0, 1]);
  });
});

test("[A1] what an iterator throws, and what is no row, is told by every call", async () => {
  async function* failing() {
    yield { id: 1 };
    throw new TypeError("the feed broke");
  }
  const broken = s.fromItems(failing());
  expect(await broken.take(1)).toEqual([{ id: 1 }]);
  await expect(broken.takeAll()).rejects.toThrow("the feed broke");
  await expect(broken.takeAll()).rejects.toThrow("the feed broke");
  const shapes = s.fromItems([{ id: 1 }, { other: 1 } as unknown as { id: number }].values());
  await expect(shapes.takeAll()).rejects.toThrow(RowShapeError);
  expect(() => s.fromItems(5 as unknown as Iterable<{ id: number }>)).toThrow(/async iterable/);
});

test("[A1] what has been read goes with the dataset: more than the store goes through the program", async () => {
  const small = sessions.open({ workers: 1, objectStoreMemory: "16 MiB", targetMaxBlockSize: "1 MiB" });
  function* large() {
    for (let id = 0; id < 60_000; id++) yield { id, text: `${id} `.padEnd(1000, "x") };
  }
  expect(await small.fromItems(large()).sum("id")).toBe((60_000 * 59_999) / 2);
  await small.close();
});

test("[A8] sub, mul, div, mod, pow and neg are the short names of arithmetic", async () => {
  const x = col("x");
  const [row] = await s
    .fromItems([{ x: 7 }])
    .select(
      x.sub(2).as("sub"),
      x.mul(2).as("mul"),
      x.div(2).as("div"),
      x.mod(4).as("mod"),
      x.pow(2).as("pow"),
      x.neg().as("neg"),
    )
    .takeAll();
  expect(row).toEqual({ sub: 5, mul: 14, div: 3.5, mod: 3, pow: 49, neg: -7 });
});
