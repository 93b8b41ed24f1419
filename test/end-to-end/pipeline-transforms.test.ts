/** Transforms of a pipeline, in real sessions: each runs per window. */
import { col, count, type DatasetPipeline, sql } from "spillway";
import { describe, expect, test } from "vitest";
import { idsByWindow, idsOf, numbers } from "../support/pipelines.ts";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("pipeline-transforms");
const s = sessions.open({ preserveOrder: true });
const ten = () => s.range(10, { overrideNumBlocks: 5 });

describe("transforms", () => {
  test("[R12] run per window: a limit counts within each, batches end with it", async () => {
    expect(await idsOf(ten().window({ blocks: 2 }).limit(1))).toEqual([0, 4, 8]);
    const sizes = ten()
      .window({ blocks: 2 })
      .mapBatches((batch) => ({ id: [batch.id.length] }), { batchSize: 100 });
    expect((await idsOf(sizes)).reduce((sum, size) => sum + size, 0)).toBe(10);
  });

  test("[R12] all of them", async () => {
    const made = await s
      .fromItems(
        [
          { id: 1, tags: ["a", "b"], v: null },
          { id: 2, tags: ["c"], v: 2 },
          { id: 3, tags: [], v: 3 },
        ],
        { overrideNumBlocks: 3, schema: { v: "DOUBLE" } },
      )
      .window({ blocks: 2 })
      .fillNull({ v: 0 })
      .dropNull(["v"])
      .explode("tags")
      .rename({ tags: "tag" })
      .withColumn("w", col("v").add(1))
      .filter((row) => row.id !== 7)
      .filter(col("id").gt(0))
      .flatMap((row) => [row, { ...row, id: -row.id }])
      .map((row) => ({ ...row, n: 1 }))
      .drop("v")
      .select("id", "tag", "w", "n")
      .sample({ fraction: 1, seed: 1 })
      .takeAll();
    expect(made.map(({ id, tag, w }) => `${id}${tag}${w}`)).toEqual(["1a1", "-1a1", "1b1", "-1b1", "2c3", "-2c3"]);
  });

  test("[R12] a class is used in every window", async () => {
    class Adder {
      constructor(readonly by: number) {}
      call(batch: { id: ArrayLike<number> }) {
        return { id: Array.from(batch.id, (id) => id + this.by) };
      }
    }
    const added = ten()
      .window({ blocks: 2 })
      .mapBatches(Adder, { constructorArgs: [100] });
    expect(await idsOf(added)).toEqual(numbers(100, 110));
  });

  test("[R12] functions are captured when they are given, not when a window's turn comes", async () => {
    let by = 1;
    const added = ten()
      .window({ blocks: 2 })
      .map((row) => ({ id: row.id + by }));
    by = 1000;
    expect(await idsOf(added)).toEqual(numbers(1, 11));
  });

  test("[R12] foreachWindow takes any dataset's method, and is called for each window", async () => {
    let windows = 0;
    const marked = ten()
      .window({ blocks: 2 })
      .foreachWindow((window) => {
        windows++;
        return window.offset(1).limit(2);
      });
    expect(await idsOf(marked)).toEqual([1, 2, 5, 6, 9]);
    expect(windows).toBe(3);
    const wrong = ten().window({ blocks: 2 });
    expect(() => Reflect.apply(wrong.foreachWindow, wrong, [7])).toThrow(/7 is not a function/);
    const none = Reflect.apply(wrong.foreachWindow, wrong, [() => null]);
    await expect(none.takeAll()).rejects.toThrow(/returned null; it must return a dataset/);
  });

  test("[R12] a sample without a seed is another one in every epoch, with a seed the same", async () => {
    const epochs = async (seed?: number) => {
      const found: string[] = [];
      const options = seed === undefined ? { fraction: 0.5 } : { fraction: 0.5, seed };
      for await (const epoch of s.range(200).repeat(3).sample(options).iterEpochs())
        found.push((await idsOf(epoch)).join());
      return new Set(found).size;
    };
    expect(await epochs()).toBe(3);
    expect(await epochs(1)).toBe(1);
  });
});

describe("what looks at many rows, per window", () => {
  const windows = (seed: number) =>
    s.range(200, { overrideNumBlocks: 4 }).window({ blocks: 2 }).repeat(2).randomShuffle({ seed });

  test("[R12] a shuffle gives every window an order of its own, another one in each epoch, the same of the same seed", async () => {
    const shuffled = await idsByWindow(windows(7));
    const inOrder = [numbers(0, 100), numbers(100, 200), numbers(0, 100), numbers(100, 200)];
    expect(shuffled.map((ids) => ids.toSorted((a, b) => a - b))).toEqual(inOrder);
    // Where the rows of a window went: four orders, none of them that of the data.
    const places = shuffled.map((ids) => ids.map((id) => id % 100).join());
    expect(new Set([...places, numbers(0, 100).join()]).size).toBe(5);
    expect(await idsByWindow(windows(7))).toEqual(shuffled);
    expect(await idsByWindow(windows(8))).not.toEqual(shuffled);
    const again: number[][] = [];
    for await (const epoch of windows(7).iterEpochs()) again.push(await idsOf(epoch));
    expect(again).toEqual([shuffled.slice(0, 2).flat(), shuffled.slice(2).flat()]);
  });

  test("[R12] a shuffled dataset that every window is put together with keeps its order", async () => {
    const names = s.range(40).randomShuffle({ seed: 1 });
    const expected = (await names.takeAll()).map((row) => row.id);
    const united = ten().window({ blocks: 3 }).limit(0).union(names);
    expect(await idsOf(united)).toEqual([...expected, ...expected]);
  });

  test("[R12] order, groups and what is distinct are those of each window", async () => {
    const parity = () => ten().withColumn("even", sql("id % 2 = 0")).window({ blocks: 3 });
    expect(await idsOf(parity().sort("id", { descending: true }))).toEqual([5, 4, 3, 2, 1, 0, 9, 8, 7, 6]);
    const sums = parity()
      .groupBy("even")
      .agg({ n: count(), total: col("id").sum() })
      .sort("even");
    expect(await sums.takeAll()).toEqual([
      { even: false, n: 3, total: 9 },
      { even: true, n: 3, total: 6 },
      { even: false, n: 2, total: 16 },
      { even: true, n: 2, total: 14 },
    ]);
    expect(await parity().groupBy("even").count().count()).toBe(4);
    expect(await parity().select("even").distinct().count()).toBe(4);
    const largest = parity()
      .groupBy("even")
      .mapGroups((group) => [{ largest: Math.max(...group.map((row) => row.id)) }], { batchFormat: "rows" })
      .sort("largest");
    expect((await largest.takeAll()).map((row) => row.largest)).toEqual([4, 5, 8, 9]);
  });

  test("[R12] every window is joined with all of the other dataset", async () => {
    const names = s.fromItems([
      { id: 1, name: "one" },
      { id: 8, name: "eight" },
    ]);
    const joined = ten().window({ blocks: 2 }).repeat(2).join(names, { on: "id" });
    expect(await joined.takeAll()).toEqual([
      { id: 1, name: "one" },
      { id: 8, name: "eight" },
      { id: 1, name: "one" },
      { id: 8, name: "eight" },
    ]);
    const one = ten().window({ blocks: 2 });
    const other = ten().window({ blocks: 2 });
    expect(() => Reflect.apply(one.join, one, [other, { on: "id" }])).toThrow(/join: the other side is a pipeline/);
    expect(() => Reflect.apply(one.join, one, [7, { on: "id" }])).toThrow(/join: 7 is not a dataset/);
  });

  test("[R12] partitions are those of each window", async () => {
    const partitions = async (pipeline: DatasetPipeline) => {
      const found: number[] = [];
      for await (const window of pipeline.iterWindows()) found.push(await window.numPartitions());
      return found;
    };
    expect(await partitions(ten().window({ blocks: 3 }).repartition(4))).toEqual([4, 4]);
    expect(await partitions(ten().window({ blocks: 3 }).intoPartitions(1))).toEqual([1, 1]);
    expect(await partitions(ten().window({ blocks: 3 }).repartition({ targetRows: 2 }))).toEqual([3, 2]);
  });

  test("[R12] groups use their pipeline up, and it says by what", async () => {
    const pipeline = ten().window({ blocks: 3 });
    const groups = pipeline.groupBy("id");
    groups.count();
    expect(() => groups.agg({ n: count() })).toThrow(/agg: this pipeline was already used by count/);
    expect(() => pipeline.sort("id")).toThrow(/sort: this pipeline was already used by count/);
  });
});
