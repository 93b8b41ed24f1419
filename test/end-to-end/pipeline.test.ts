/** Pipelines in real sessions: windows, epochs, what is read when, and what is left behind. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { col, Dataset, OptionError, sql } from "spillway";
import { beforeAll, describe, expect, test } from "vitest";
import { idsByWindow, idsOf, numbers } from "../support/pipelines.ts";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("pipeline");
const s = sessions.open({ preserveOrder: true });
const path = (name: string) => join(sessions.directory, name);
const ten = () => s.range(10, { overrideNumBlocks: 5 });

describe("windows", () => {
  test("[R12] a window by blocks is so many blocks of the read; the last takes what is left", async () => {
    expect(await idsByWindow(ten().window({ blocks: 2 }))).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
      [8, 9],
    ]);
  });

  test("[R12] a window by bytes takes as many blocks as fit, at least one", async () => {
    // A block is two numbers of eight bytes.
    expect(await idsByWindow(ten().window({ bytes: 50 }))).toEqual([numbers(0, 6), numbers(6, 10)]);
    expect((await idsByWindow(ten().window({ bytes: 2 }))).length).toBe(5);
    expect((await idsByWindow(ten().window({ bytes: "1 KiB" }))).length).toBe(1);
  });

  test("[R12] a window larger than the data is all of it", async () => {
    expect(await idsByWindow(ten().window({ blocks: 100 }))).toEqual([numbers(0, 10)]);
  });

  test("[R12] windows of a materialised dataset are made of its blocks", async () => {
    await using kept = await ten().materialize();
    expect(kept.numBlocks).toBe(5);
    expect(await idsByWindow(kept.window({ blocks: 2 }))).toEqual([numbers(0, 4), numbers(4, 8), numbers(8, 10)]);
    expect((await idsByWindow(kept.window({ bytes: kept.byteLength / 2 }))).map((ids) => ids.length)).toEqual([
      4, 4, 2,
    ]);
  });

  test("[R12] no rows are one window without rows", async () => {
    expect(await idsByWindow(s.range(0).window({ blocks: 3 }))).toEqual([[]]);
    expect(await s.range(0).window({ blocks: 3 }).count()).toBe(0);
    expect(await s.range(0).window({ blocks: 3 }).repeat().take(5)).toEqual([]);
    expect((await s.range(0).window({ blocks: 3 }).schema()).names).toEqual(["id"]);
  });

  test("[R12] what comes before the window is done per window", async () => {
    const pipeline = ten()
      .map((row) => ({ id: row.id * 10 }))
      .where(col("id").ne(50))
      .window({ blocks: 2 });
    expect(await idsByWindow(pipeline)).toEqual([
      [0, 10, 20, 30],
      [40, 60, 70],
      [80, 90],
    ]);
  });

  test("[R12] a union is gone through one side after the other, with the types of the whole", async () => {
    const halves = s.fromItems([{ id: 0.5 }, { id: 1.5 }], { overrideNumBlocks: 2 });
    const both = ten().union(halves);
    expect(await idsByWindow(both.window({ blocks: 3 }))).toEqual([numbers(0, 6), [6, 7, 8, 9, 0.5], [1.5]]);
    const types = new Set<string>();
    for await (const window of both.window({ blocks: 3 }).iterWindows()) types.add(String(await window.schema()));
    expect([...types]).toEqual(["id: DOUBLE"]);
  });

  test("[R12] what needs all rows is refused before a window, with the remedy", async () => {
    expect(() => ten().limit(3).window({ blocks: 1 })).toThrow(/limit needs the whole dataset.*after window/);
    expect(() =>
      ten()
        .offset(3)
        .map((row) => row)
        .window({ blocks: 1 }),
    ).toThrow(/offset/);
    expect(() => ten().sample({ rows: 3 }).window({ blocks: 1 })).toThrow(/sample/);
    const kept = await ten().limit(3).materialize();
    expect(await idsOf(kept.window({ blocks: 1 }))).toEqual([0, 1, 2]);
    kept.dispose();
    expect(await idsOf(ten().limit(3).repeat(2))).toEqual([0, 1, 2, 0, 1, 2]);
  });

  test("[R12] wrong sizes are refused", () => {
    const wrong: [unknown, RegExp][] = [
      [{}, /either blocks or bytes/],
      [{ blocks: 1, bytes: 1 }, /either blocks or bytes/],
      [{ blocks: 0 }, /blocks is 0/],
      [{ bytes: "many" }, /"many" is not a size/],
      [{ block: 1 }, /Did you mean "blocks"/],
    ];
    for (const [options, message] of wrong) {
      expect(() => Reflect.apply(Dataset.prototype.window, ten(), [options])).toThrow(message);
    }
    expect(() => ten().repeat(0)).toThrow(/epochs is 0/);
    expect(() => ten().repeat().repeat(2)).toThrow(/endless/);
  });
});

describe("windows of files", () => {
  const data = path("data");

  beforeAll(async () => {
    const rows = s.range(1000, { overrideNumBlocks: 4 }).withColumn("g", sql("id % 2"));
    await rows.writeParquet(join(data, "parquet"), { partitionBy: "g" });
    await rows.writeCsv(join(data, "csv"));
    await rows.writeJson(join(data, "json"));
    await rows.writeArrow(join(data, "arrow"), { partitionBy: "g" });
    await s.range(500_000, { overrideNumBlocks: 1 }).writeParquet(join(data, "groups"));
  });

  const sorted = (ids: number[]) => ids.sort((a, b) => a - b);
  const readers: [string, () => Dataset<{ id: number }>][] = [
    ["parquet", () => s.readParquet(join(data, "parquet"), { overrideNumBlocks: 7 })],
    ["csv", () => s.readCsv(join(data, "csv"), { overrideNumBlocks: 4 })],
    ["json", () => s.readJson(join(data, "json"), { overrideNumBlocks: 4 })],
    ["arrow", () => s.readArrow(join(data, "arrow"), { overrideNumBlocks: 8 })],
    [
      "items",
      () =>
        s.fromItems(
          numbers(0, 1000).map((id) => ({ id })),
          { overrideNumBlocks: 4 },
        ),
    ],
  ];

  test.each(readers)("[R12] every row of %s is in exactly one window", async (_, read) => {
    const windows = await idsByWindow(read().select("id").window({ blocks: 3 }));
    expect(windows.length).toBeGreaterThan(1);
    expect(sorted(windows.flat())).toEqual(numbers(0, 1000));
    expect(await read().window({ blocks: 3 }).repeat(2).count()).toBe(2000);
  });

  test("[R12] conditions and columns reach the reader of a window", async () => {
    const parts = s.readParquet<{ id: number; g: number }>(join(data, "parquet"), { overrideNumBlocks: 8 });
    const odd = parts.window({ blocks: 4 }).where(col("g").eq(1)).select("id");
    expect(sorted(await idsOf(odd))).toEqual(numbers(0, 500).map((i) => 2 * i + 1));
    const groups = s.readParquet<{ id: number }>(join(data, "groups"), { overrideNumBlocks: 4 });
    const few = groups.window({ blocks: 1 }).where(col("id").lt(10));
    expect(await idsOf(few)).toEqual(numbers(0, 10));
    const { rowGroups, rows } = few.stats().operators[0]?.skipped ?? { rowGroups: 0, rows: 0 };
    expect(rowGroups).toBeGreaterThan(0);
    expect(rows).toBeGreaterThan(300_000);
  });
});

describe("epochs", () => {
  test("[R12] each epoch has every row once", async () => {
    expect(await idsOf(ten().repeat(3))).toEqual([...numbers(0, 10), ...numbers(0, 10), ...numbers(0, 10)]);
    expect(await ten().window({ blocks: 2 }).repeat(3).count()).toBe(30);
    const epochs: number[][] = [];
    for await (const epoch of ten().window({ blocks: 2 }).repeat(2).iterEpochs()) epochs.push(await idsOf(epoch));
    expect(epochs).toEqual([numbers(0, 10), numbers(0, 10)]);
  });

  test("[R12] of two repeats the last one says what an epoch is", async () => {
    const counts: number[] = [];
    for await (const epoch of ten().repeat(2).repeat(3).iterEpochs()) counts.push(await epoch.count());
    expect(counts).toEqual([20, 20, 20]);
  });

  test("[R12] an endless pipeline gives as much as is asked for", async () => {
    expect((await ten().window({ blocks: 2 }).repeat().take(25)).map((row) => row.id)).toEqual([
      ...numbers(0, 10),
      ...numbers(0, 10),
      ...numbers(0, 5),
    ]);
    let rows = 0;
    for await (const _ of ten().repeat().iterRows()) if (++rows === 35) break;
    expect(rows).toBe(35);
    for (const consume of ["takeAll", "count"] as const) {
      await expect(ten().repeat()[consume]()).rejects.toThrow(/endless.*repeat\(3\).*take\(1000\)/);
    }
    await expect(ten().repeat().writeCsv(path("endless"))).rejects.toThrow(/writeCsv: this pipeline is endless/);
  });

  test("[R12] each epoch reads again: what has changed in between is seen", async () => {
    const folder = path("changing");
    mkdirSync(folder);
    writeFileSync(join(folder, "a.csv"), "id\n1\n2\n");
    const epochs: number[][] = [];
    for await (const epoch of s.readCsv(folder).window({ blocks: 1 }).repeat(3).iterEpochs()) {
      epochs.push(await idsOf(epoch.select("id").map((row) => ({ id: row.id }))));
      if (epochs.length === 1) appendFileSync(join(folder, "a.csv"), "3\n");
      else writeFileSync(join(folder, "b.csv"), "id\n4\n");
    }
    expect(epochs).toEqual([
      [1, 2],
      [1, 2, 3],
      [1, 2, 3, 4],
    ]);
  });

  test("[R12] a rewritten Parquet file is read whole in the next epoch", async () => {
    const folder = path("rewritten");
    await s.range(10).writeParquet(folder);
    const counts: number[] = [];
    for await (const epoch of s
      .readParquet(folder, { overrideNumBlocks: 3 })
      .window({ blocks: 1 })
      .repeat(2)
      .iterEpochs()) {
      counts.push((await epoch.takeAll()).length);
      await s.range(5000).writeParquet(folder, { mode: "overwrite" });
    }
    expect(counts).toEqual([10, 5000]);
  });

  test("[R12] a window is read when its turn comes, not before", async () => {
    const marker = path("read");
    writeFileSync(marker, "");
    const pipeline = ten()
      .map((row) => {
        process.getBuiltinModule("node:fs").appendFileSync(marker, "x");
        return row;
      })
      .window({ blocks: 1 });
    const rows = pipeline.iterRows();
    await rows.next();
    expect(readFileSync(marker, "utf8")).toBe("xx");
    await rows.next();
    await rows.next();
    expect(readFileSync(marker, "utf8")).toBe("xxxx");
    await rows.return?.();
  });
});

describe("consuming", () => {
  test("[R12] batches are filled across windows and epochs", async () => {
    const sizes: number[] = [];
    for await (const batch of ten().window({ blocks: 2 }).repeat(2).iterBatches({ batchSize: 8 }))
      sizes.push(batch.id.length);
    expect(sizes).toEqual([8, 8, 4]);
    const rows: number[] = [];
    for await (const batch of ten().window({ blocks: 2 }).iterBatches({ batchSize: 5, batchFormat: "rows" }))
      rows.push(...batch.map((row) => row.id));
    expect(rows).toEqual(numbers(0, 10));
  });

  test("[R12] show and schema", async () => {
    const pipeline = ten().window({ blocks: 2 });
    expect(String(await pipeline.schema())).toBe("id: BIGINT");
    expect(await pipeline.show(5)).toContain("the first 5 rows");
  });

  test("[R12] writing appends each window's files", async () => {
    const folder = path("written");
    const pipeline = ten().window({ blocks: 2 }).repeat(2);
    const { files, rows } = await pipeline.writeParquet(folder);
    expect(rows).toBe(20);
    expect(new Set(files).size).toBe(10);
    expect(readdirSync(folder).length).toBe(10);
    expect(await s.readParquet(folder).count()).toBe(20);
    await expect(ten().window({ blocks: 2 }).writeParquet(folder)).rejects.toThrow(/already has data/);
    await ten().window({ blocks: 2 }).writeJson(folder, { mode: "overwrite" });
    expect(await s.readJson(folder).count()).toBe(10);
  });

  test("[R12] stats are of all windows together", async () => {
    const pipeline = ten().window({ blocks: 2 }).repeat(2);
    expect(String(pipeline.stats())).toContain("not run yet");
    await pipeline.takeAll();
    const [read] = pipeline.stats().operators;
    expect([read?.tasks, read?.tasksDone, read?.rowsOut.total, read?.rowsOut.mean]).toEqual([10, 10, 20, 2]);
  });
});

describe("a pipeline is used once", () => {
  test("[R12] a second dataset derived from it is an error that names both", () => {
    const pipeline = ten().window({ blocks: 2 });
    pipeline.map((row) => row);
    expect(() => pipeline.where(col("id").gt(1))).toThrow(OptionError);
    expect(() => pipeline.where(col("id").gt(1))).toThrow(/where: this pipeline was already used by map/);
    expect(() => pipeline.repeat(2)).toThrow(/repeat: .* used by map/);
    expect(() => pipeline.iterRows()).toThrow(/iterRows: .* used by map/);
  });

  test("[R12] nor can it be consumed twice", async () => {
    const pipeline = ten().window({ blocks: 2 });
    expect(await pipeline.count()).toBe(10);
    await expect(pipeline.takeAll()).rejects.toThrow(/takeAll: this pipeline was already used by count/);
    expect(() => pipeline.iterWindows()).toThrow(/iterWindows: .* used by count/);
  });

  test("[R12] a refused call uses nothing up", async () => {
    const pipeline = ten().window({ blocks: 2 });
    expect(() => pipeline.limit(-1)).toThrow(/limit/);
    expect(await pipeline.count()).toBe(10);
  });
});

describe("memory", () => {
  test("[R12] only a window is in the store, however much is made ahead", async () => {
    // 32 MB in blocks of 1 MB: without windows all of it could wait for the reader.
    const pipeline = s.range(4_000_000, { overrideNumBlocks: 32 }).window({ blocks: 2 });
    let rows = 0;
    for await (const batch of pipeline.iterBatches({ batchSize: 65_536, prefetch: 1000 })) rows += batch.id.length;
    expect(rows).toBe(4_000_000);
    const peak = pipeline.stats().job?.peakStoreBytes ?? 0;
    expect(peak).toBeGreaterThan(1e6);
    expect(peak).toBeLessThan(3e6);
  });

  test("[R12] data far larger than the store goes through it a window at a time", async () => {
    const small = sessions.open({ objectStoreMemory: "16 MiB" });
    const windows = small.range(8_000_000, { overrideNumBlocks: 64 }).window({ blocks: 8 }).iterWindows();
    let rows = 0;
    for await (const window of windows) {
      const kept = await window.materialize();
      rows += await kept.count();
      kept.dispose();
    }
    expect(rows).toBe(8_000_000);
    await small.close();
  });

  test("[R12] what is disposed of inside a loop over its own windows is an error that says where to do it", async () => {
    const kept = await ten()
      .map((row) => row)
      .materialize();
    const loop = async () => {
      for await (const window of kept.window({ blocks: 1 }).iterWindows()) {
        await window.takeAll();
        kept.dispose();
      }
    };
    await expect(loop()).rejects.toThrow(/disposed of.*Call dispose\(\).*after a loop over its windows, not inside it/);
  });

  test("[R12] leaving early leaves nothing running", async () => {
    const marker = path("left");
    writeFileSync(marker, "");
    const one = sessions.open({ workers: 1 });
    const endless = one
      .range(1000, { overrideNumBlocks: 10 })
      .window({ blocks: 1 })
      .repeat()
      .map((row) => {
        process.getBuiltinModule("node:fs").appendFileSync(marker, "x");
        return row;
      });
    for await (const row of endless.iterRows()) if (row.id === 150) break;
    const seen = readFileSync(marker, "utf8").length;
    expect(seen).toBeLessThanOrEqual(200);
    // The only worker is free for another job, and the left one goes no further meanwhile.
    expect(
      (
        await one
          .range(10)
          .map((row) => row)
          .takeAll()
      ).length,
    ).toBe(10);
    expect(readFileSync(marker, "utf8").length).toBe(seen);
    const batches = one
      .range(1000, { overrideNumBlocks: 10 })
      .window({ blocks: 1 })
      .repeat()
      .iterBatches({ batchSize: 10 });
    await batches.next();
    await batches.return(undefined);
    expect((await batches.next()).done).toBe(true);
    await one.close();
  });

  test("[R12] leaving while a row is waited for ends the wait", async () => {
    const one = sessions.open({ workers: 1 });
    const never = one
      .range(100, { overrideNumBlocks: 100 })
      .window({ blocks: 1 })
      .repeat()
      .map(async (row) => (row.id < 50 ? row : new Promise<typeof row>(() => {})));
    const rows = never.iterRows();
    for (let i = 0; i < 50; i++) await rows.next();
    const waiting = rows.next();
    await rows.return?.();
    expect((await waiting).done).toBe(true);
    expect(
      await one
        .range(10)
        .filter((row) => row.id > 3)
        .count(),
    ).toBe(6);
    await one.close();
  });
});
