import { join } from "node:path";
import { col, session, sql } from "spillway";
import { beforeAll, describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("consume");
const s = sessions.open({ preserveOrder: true });
const data = join(sessions.directory, "sorted");

beforeAll(async () => {
  // Eight row groups or more, sorted by id: a filter on id can skip most.
  await s
    .range(1_000_000, { overrideNumBlocks: 1 })
    .withColumn("v", sql("id * 2"))
    .withColumn("unused", sql("'x' || id"))
    .writeParquet(data);
});

describe("consuming", () => {
  const ds = s.range(100).map((row) => ({ id: row.id, even: row.id % 2 === 0 }));

  test("[A10] take, takeAll, count", async () => {
    expect(await ds.take(3)).toEqual([
      { id: 0, even: true },
      { id: 1, even: false },
      { id: 2, even: true },
    ]);
    expect((await ds.takeAll()).length).toBe(100);
    expect(await ds.count()).toBe(100);
    expect((await ds.take(1000)).length).toBe(100);
  });

  test("[A10] show gives an aligned table", async () => {
    const text = await ds.show(2);
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    expect(lines.some((line) => line.includes("id") && line.includes("even"))).toBe(true);
    expect(lines.some((line) => line.includes("true"))).toBe(true);
  });

  test("[A10] schema names columns and types, before and after a function", async () => {
    const before = await s.readParquet(data).schema();
    expect(before.names).toEqual(["id", "v", "unused"]);
    const after = await ds.schema();
    expect(after.names).toEqual(["id", "even"]);
  });

  test("[A10] iterBatches gives batches of batchSize across blocks; dropLast leaves the short one out", async () => {
    const sizes: number[] = [];
    for await (const batch of ds.iterBatches({ batchSize: 30 })) sizes.push(batch.id.length);
    expect(sizes).toEqual([30, 30, 30, 10]);
    const whole: number[] = [];
    for await (const batch of ds.iterBatches({ batchSize: 30, dropLast: true })) whole.push(batch.id.length);
    expect(whole).toEqual([30, 30, 30]);
  });

  test("[A10] localShuffle mixes rows, the same way for the same seed", async () => {
    const once = async (seed: number) => {
      const ids: number[] = [];
      for await (const batch of ds.iterBatches({ batchSize: 10, localShuffle: { rows: 50, seed } }))
        ids.push(...batch.id);
      return ids;
    };
    const first = await once(1);
    expect([...first].sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(first).not.toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(await once(1)).toEqual(first);
    expect(await once(2)).not.toEqual(first);
  });

  test("[A10] localShuffle with a seed gives the same order in every epoch, whichever task is done first", async () => {
    // The first tasks are the slowest in one epoch, and the last ones in the other.
    const epoch = async (seed: number, slow: "first" | "last", blocks: number) => {
      const late = sessions.open({ workers: 2 });
      const ids: number[] = [];
      const rows = late.range(4000, { overrideNumBlocks: blocks }).mapBatches(async (batch) => {
        const early = (batch.id[0] ?? 0) < 2000;
        if (early === (slow === "first")) await new Promise((resolve) => setTimeout(resolve, 60));
        return batch;
      });
      const options = { batchSize: 100, localShuffle: { bufferSize: 500, seed } };
      for await (const batch of rows.iterBatches(options)) ids.push(...batch.id);
      return ids;
    };
    const first = await epoch(3, "first", 8);
    expect(await epoch(3, "last", 8)).toEqual(first);
    expect(await epoch(3, "last", 5)).toEqual(first);
    expect(await epoch(4, "last", 8)).not.toEqual(first);
    expect(new Set(first).size).toBe(4000);
  });

  test("[A10] toNodeStream", async () => {
    const ids: number[] = [];
    for await (const row of ds.toNodeStream()) ids.push(row.id);
    expect(ids.length).toBe(100);
  });

  test("[A10] materialize runs once and is read many times", async () => {
    const marker = join(sessions.directory, "runs");
    const kept = await s
      .range(10, { overrideNumBlocks: 1 })
      .map((row) => {
        process.getBuiltinModule("node:fs").appendFileSync(marker, "x");
        return row;
      })
      .materialize();
    expect(await kept.count()).toBe(10);
    expect((await kept.takeAll()).length).toBe(10);
    expect((await kept.map((row) => ({ id: -row.id })).takeAll()).length).toBe(10);
    const { readFileSync } = await import("node:fs");
    expect(readFileSync(marker, "utf8").length).toBe(10);
    await kept.dispose();
    await expect(kept.takeAll()).rejects.toThrow(/dispose/i);
  });
});

describe("limits", () => {
  test("[A6] limit stops the readers", async () => {
    const rows = await s
      .range(1e12, { overrideNumBlocks: 100 })
      .map((row) => ({ id: row.id }))
      .limit(5)
      .takeAll();
    expect(rows).toEqual([0, 1, 2, 3, 4].map((id) => ({ id })));
  });

  test("[A6] offset and limit take rows in order", async () => {
    const rows = await s.range(1000, { overrideNumBlocks: 7 }).offset(500).limit(3).takeAll();
    expect(rows).toEqual([{ id: 500 }, { id: 501 }, { id: 502 }]);
  });
});

describe("lazy", () => {
  test("[R8] nothing runs before a consuming call", () => {
    const lazy = session({ localDirectory: join(sessions.directory, "nowhere") });
    const ds = lazy.readParquet("/no/such/file.parquet").map((row) => row);
    expect(ds).toBeDefined();
  });

  test("[A10] schema of a result without rows: the columns that the functions tell of", async () => {
    const made = s.range(5).map((row) => ({ id: row.id, double: row.id * 2 }));
    const columns = [
      { name: "id", type: "BIGINT" },
      { name: "double", type: "NULL" },
    ];
    expect((await made.filter((row) => row.id > 9).schema()).columns).toEqual(columns);
    expect((await made.where(col("id").gt(9)).sort("id").distinct().limit(3).schema()).columns).toEqual(columns);
    const none = s.range(5).flatMap((): { at: Date; price: string }[] => [], {
      schema: { at: "timestamp", price: "decimal(10, 2)" },
    });
    expect(String(await none.schema())).toBe("at: TIMESTAMP\nprice: DECIMAL(10,2)");
    expect(String(await none.rename({ at: "when" }).drop("price").schema())).toBe("when: TIMESTAMP");
    expect(
      String(
        await s
          .range(5)
          .flatMap((): { a: number }[] => [])
          .schema(),
      ),
    ).toBe("");
  });

  test("[R8] count and schema of files need their metadata only", async () => {
    const ds = s.readParquet(data);
    expect(await ds.count()).toBe(1_000_000);
    expect(ds.stats().job).toBeNull();
  });

  test("[R8] eager sessions run each operator as it is added; lazy() leaves that", async () => {
    const eager = sessions.open({ eager: true, workers: 1 });
    const marker = join(sessions.directory, "eager");
    const ds = eager.range(10).map((row) => {
      process.getBuiltinModule("node:fs").appendFileSync(marker, "x");
      return row;
    });
    const { existsSync, readFileSync } = await import("node:fs");
    await expect.poll(() => existsSync(marker) && readFileSync(marker).length).toBe(10);
    expect((await ds.takeAll()).length).toBe(10);
    expect(readFileSync(marker).length).toBe(10);
    const lazy = ds.lazy().map((row) => {
      process.getBuiltinModule("node:fs").appendFileSync(`${marker}-lazy`, "x");
      return row;
    });
    expect(lazy).toBeDefined();
    expect(existsSync(`${marker}-lazy`)).toBe(false);
    await eager.close();
  });
});

describe("filter early", () => {
  test("[D6] row groups that cannot match are skipped, and explain and stats say so", async () => {
    const ds = s
      .readParquet(data)
      .filter(col("id").ge(990_000))
      .map((row) => ({ id: row.id }));
    const explained = await ds.explain();
    expect(explained).toMatch(/skipped/i);
    const rows = await ds.takeAll();
    expect(rows.length).toBe(10_000);
    const skipped = ds.stats().operators[0]?.skipped;
    expect(skipped?.rowGroups).toBeGreaterThan(4);
    expect(skipped?.columns).toBe(2);
    expect(String(ds.stats())).toMatch(/skipped/i);
  });

  test("[D6] hive partitions that cannot match are skipped", async () => {
    const out = join(sessions.directory, "hive");
    await s
      .range(1000)
      .withColumn("k", sql("id % 4"))
      .writeParquet(out, { partitionBy: ["k"] });
    const ds = s
      .readParquet(out)
      .where(col("k").eq(2))
      .map((row) => row);
    const rows = await ds.takeAll();
    expect(rows.length).toBe(250);
    expect(ds.stats().operators[0]?.skipped.files).toBeGreaterThanOrEqual(3);
  });
});

describe("stages", () => {
  test("[R9] a read fuses with the functions after it; a class function is a stage of its own", async () => {
    class Twice {
      call(batch: { id: Float64Array }) {
        return { id: batch.id.map((x) => x * 2) };
      }
    }
    const ds = s
      .readParquet(data)
      .filter(col("id").lt(1000))
      .map((row) => ({ id: row.id }))
      .mapBatches(Twice);
    await ds.takeAll();
    const names = ds.stats().operators.map((operator) => operator.name) ?? [];
    expect(names.length).toBe(2);
    expect(names[0]).toMatch(/^readParquet.*->.*map/);
    expect(names[1]).toContain("mapBatches");
    expect(await ds.explain()).toMatch(/class/i);
  });

  test("[R10] stats name the stages and give wall time, CPU time and rows, min, max, mean, total", async () => {
    const ds = s.range(10_000, { overrideNumBlocks: 4 }).mapBatches((batch) => batch);
    await ds.takeAll();
    const text = String(ds.stats());
    expect(text).toMatch(/Stage 1 range->mapBatches[^:]*: 4\/4 blocks executed in [\d.]+m?s/);
    for (const figure of ["wall time", "CPU time", "rows"]) {
      const line = text.split("\n").find((one) => one.toLowerCase().includes(figure.toLowerCase()));
      for (const word of ["min", "max", "mean", "total"]) expect(line).toContain(word);
    }
  });
});
