/** Consuming, writing and eager datasets over the real kernel, without processes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, describe, expect, test, vi } from "vitest";
import { col, fromItems, type RunningJob, type RunOptions, range, readParquet } from "../../src/dataset/index.ts";
import { OptionError, StoreError, UnknownColumnError, WriteError } from "../../src/errors/index.ts";
import type { JobSpec } from "../../src/protocol/index.ts";
import { InProcessEngine } from "./in-process-engine.ts";
import { engine, folder, items, ownEngine } from "./people.ts";

describe("[A10] consuming", () => {
  test("[A10] take, takeAll, count, schema after a function", async () => {
    const ds = range(engine, 10).map((row) => ({ id: row.id, text: `n${row.id}` }));
    expect(await ds.take(2)).toEqual([
      { id: 0, text: "n0" },
      { id: 1, text: "n1" },
    ]);
    expect(await ds.count()).toBe(10);
    expect((await ds.schema()).columns).toEqual([
      { name: "id", type: "DOUBLE" },
      { name: "text", type: "VARCHAR" },
    ]);
  });

  test("[A10] show prints an aligned table and gives its text", async () => {
    const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    try {
      const text = await items().select("name", "age").show(2);
      expect(text).toBe(
        "name | age\n-----+-----\nAnn  |   31\nBob  | null\n(the first 2 rows)".replace("name | age", "name |  age"),
      );
      expect(written).toHaveBeenCalledWith(`${text}\n`);
    } finally {
      written.mockRestore();
    }
  });

  test("[A10] iterRows, left early, frees what it held", async () => {
    const own = ownEngine();
    let seen = 0;
    for await (const row of range(own, 100, { overrideNumBlocks: 5 }).iterRows()) {
      expect(row.id).toBe(seen++);
      if (seen === 30) break;
    }
    expect(own.live).toBe(0);
    const ids: number[] = [];
    for await (const row of range(own, 100, { overrideNumBlocks: 5 }).iterRows()) ids.push(row.id);
    expect(ids).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(own.live).toBe(0);
  });

  test("[A10] rows asked for all at once come in order", async () => {
    const rows = range(engine, 10, { overrideNumBlocks: 4 }).iterRows();
    const all = await Promise.all(Array.from({ length: 12 }, () => rows.next()));
    expect(all.map(({ value }) => value?.id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, undefined, undefined]);
  });

  test("[A10] iterBatches: sizes, formats, dropLast", async () => {
    const ds = range(engine, 25, { overrideNumBlocks: 4 });
    const sizes: number[] = [];
    for await (const batch of ds.iterBatches({ batchSize: 10 })) {
      expect(batch.id).toBeInstanceOf(Float64Array);
      sizes.push(batch.id.length);
    }
    expect(sizes).toEqual([10, 10, 5]);
    let rows = 0;
    for await (const batch of ds.iterBatches({ batchSize: 10, batchFormat: "rows", dropLast: true }))
      rows += batch.length;
    expect(rows).toBe(20);
    const tables: number[] = [];
    for await (const table of ds.iterBatches({ batchSize: 20, batchFormat: "arrow" })) tables.push(table.numRows);
    expect(tables).toEqual([20, 5]);
    expect(() => ds.iterBatches({ batchSize: -1 })).toThrow(OptionError);
    // @ts-expect-error no such format
    expect(() => ds.iterBatches({ batchFormat: "pandas" })).toThrow(OptionError);
  });

  test("[A10] localShuffle mixes all rows, the same way by seed", async () => {
    const order = async (seed: number) => {
      const ids: number[] = [];
      const options = { batchSize: 500, batchFormat: "rows", localShuffle: { bufferSize: 5000, seed } } as const;
      for await (const batch of range(engine, 40_000).iterBatches(options)) ids.push(...batch.map((row) => row.id));
      return ids;
    };
    const once = await order(1);
    expect([...once].sort((a, b) => a - b)).toEqual(Array.from({ length: 40_000 }, (_, i) => i));
    expect(once.slice(0, 100)).not.toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(await order(1)).toEqual(once);
    expect(await order(2)).not.toEqual(once);
  });

  test("[A10] toArrow and toNodeStream", async () => {
    const table = await range(engine, 5, { overrideNumBlocks: 2 }).toArrow();
    expect(table.numRows).toBe(5);
    expect([...(table.getChild("id") ?? [])]).toEqual([0, 1, 2, 3, 4]);
    expect((await fromItems(engine, []).toArrow()).numRows).toBe(0);
    const rows: unknown[] = [];
    for await (const row of range(engine, 3).toNodeStream()) rows.push(row);
    expect(rows).toEqual([{ id: 0 }, { id: 1 }, { id: 2 }]);
  });

  test("[A10] materialize runs once, is read again and again, and ends with dispose", async () => {
    const own = ownEngine();
    const kept = await range(own, 10, { overrideNumBlocks: 3 })
      .map((row) => ({ v: row.id }))
      .materialize();
    const jobs = own.jobs.length;
    expect(kept.numBlocks).toBe(3);
    expect(await kept.count()).toBe(10);
    expect(own.jobs.length).toBe(jobs);
    expect(await kept.where(col("v").gt(7)).takeAll()).toEqual([{ v: 8 }, { v: 9 }]);
    expect(await kept.offset(4).limit(2).takeAll()).toEqual([{ v: 4 }, { v: 5 }]);
    kept.dispose();
    kept.dispose();
    expect(own.live).toBe(0);
    await expect(kept.takeAll()).rejects.toThrow(StoreError);
  });

  test("[R6] a materialised dataset that nobody can reach lets go of its blocks", async () => {
    const own = ownEngine();
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    const derived = await (async () => {
      const kept = await range(own, 10).materialize();
      return kept.where(col("id").gt(7));
    })();
    collect();
    await nextTurn();
    // What is built on it keeps it.
    expect(await derived.count()).toBe(2);
    const gone = await (async () => (await range(own, 10).materialize()).numBlocks)();
    expect(gone).toBe(1);
    for (let tries = 0; tries < 200 && own.live > 1; tries++) {
      collect();
      await nextTurn();
    }
    expect(own.live).toBe(1);
    expect(await derived.count()).toBe(2);
  });

  test("[R10] stats name the stages with their figures", async () => {
    const ds = range(engine, 10, { overrideNumBlocks: 2 }).map((row) => row);
    expect(ds.stats().toString()).toBe("This dataset has not run yet.");
    await ds.takeAll();
    const text = ds.stats().toString();
    expect(text).toMatch(
      /^Stage 1 range->map: 2\/2 blocks executed in \d+\.\ds\n {2}Wall time: .* min, .* max, .* mean, .* total/,
    );
    expect(text).toContain("CPU time:");
    expect(text).toContain("Rows out: 10 min, 10 max, 10 mean, 10 total");
  });
});

describe("[O10] a run that ended before it had figures", () => {
  class EarlyEnd extends InProcessEngine {
    override run(job: JobSpec, options: RunOptions): RunningJob {
      options.going(null);
      return super.run(job, options);
    }
  }
  const early = new EarlyEnd();
  afterAll(() => early.close());
  test("[O10] is told apart from a dataset that has not run", async () => {
    const ds = range(early, 10).map((row) => row);
    expect([String(ds.stats()), String(ds.diagnose())]).toEqual(Array(2).fill("This dataset has not run yet."));
    for await (const _ of ds.iterRows()) break;
    expect([String(ds.stats()), String(ds.diagnose())]).toEqual(
      Array(2).fill("The last run ended before it had figures."),
    );
  });
});

describe("[R8] lazy and eager", () => {
  const eager = new InProcessEngine({ eager: true });
  afterAll(() => eager.close());
  test("[R8] nothing runs before a consuming call", () => {
    const jobs = engine.jobs.length;
    range(engine, 10)
      .map((row) => row)
      .where(col("id").gt(1))
      .limit(2);
    readParquet(engine, "/nowhere/at/all.parquet").select("a");
    expect(engine.jobs.length).toBe(jobs);
  });

  test("[R8] eager starts each operator as it is added, with the read, and lazy() leaves it", async () => {
    const source = range(eager, 10);
    expect(eager.jobs).toHaveLength(0);
    const mapped = source.map((row) => ({ v: row.id + 1 }));
    const filtered = mapped.where(col("v").gt(8));
    expect(await filtered.takeAll()).toEqual([{ v: 9 }, { v: 10 }]);
    const names = eager.jobs.map((job) => job.operators.map((operator) => operator.name).join());
    expect(names.slice(0, 2)).toEqual(["range->map", "map->filter"]);
    const jobs = eager.jobs.length;
    const lazy = mapped
      .lazy()
      .map((row) => row)
      .limit(1);
    await Promise.resolve();
    expect(eager.jobs.length).toBe(jobs);
    expect(await lazy.count()).toBe(1);
  });

  test("[R8] an eager operator that fails tells whoever consumes it", async () => {
    // @ts-expect-error there is no such column
    const broken = range(eager, 3).where(col("nope").gt(1));
    await expect(broken.takeAll()).rejects.toThrow(UnknownColumnError);
  });
});

describe("[A11] writing", () => {
  test("[A11] the summary, and what was written", async () => {
    const out = join(folder, "out");
    const summary = await range(engine, 10, { overrideNumBlocks: 2 })
      .withColumn("x", col("id").multiply(2))
      .writeParquet(out);
    expect(summary).toMatchObject({ rows: 10, files: [join(out, "part-0.parquet"), join(out, "part-1.parquet")] });
    expect(await readParquet(engine, out).where(col("x").gt(14)).takeAll()).toEqual([
      { id: 8, x: 16 },
      { id: 9, x: 18 },
    ]);
    await expect(range(engine, 1).writeParquet(out)).rejects.toThrow(WriteError);
    await expect(range(engine, 1).writeParquet(out)).rejects.toThrow(/mode "overwrite" or "append"/);
    await range(engine, 1).writeCsv(out, { mode: "append", compression: "none" });
  });

  test("[A11] options reach the job", async () => {
    await items().writeParquet(join(folder, "opts"), {
      partitionBy: "city",
      maxRowsPerFile: 10,
      targetFileSize: "1 MiB",
      compression: "zstd",
      mode: "overwrite",
    });
    expect(engine.jobs.at(-1)?.operators.at(-1)).toMatchObject({
      sink: {
        kind: "files",
        format: "parquet",
        directory: join(folder, "opts"),
        mode: "overwrite",
        partitionBy: ["city"],
        maxRowsPerFile: 10,
        targetFileSize: 2 ** 20,
        compression: "zstd",
      },
    });
  });

  test("[A11] bad options are refused before anything runs", async () => {
    const jobs = engine.jobs.length;
    const to = join(folder, "never");
    // @ts-expect-error no such mode
    await expect(items().writeParquet(to, { mode: "replace" })).rejects.toThrow(/mode is "replace"/);
    // @ts-expect-error no such column
    await expect(items().writeParquet(to, { partitionBy: "citi" })).rejects.toThrow(/Did you mean "city"/);
    // @ts-expect-error not for CSV
    await expect(items().writeCsv(to, { compression: "snappy" })).rejects.toThrow(OptionError);
    await expect(items().writeJson(to, { maxRowsPerFile: 0 })).rejects.toThrow(OptionError);
    const file = join(folder, "a-file");
    writeFileSync(file, "");
    await expect(items().writeJson(file)).rejects.toThrow(/is a file/);
    expect(engine.jobs.length).toBe(jobs);
  });
});
