/** Blocks of the right size, whatever makes them, and what is said where that cannot be. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Dataset, StoreError } from "spillway";
import { describe, expect, test, vi } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("blocks");
const KIB = 1024;
const s = sessions.open({ workers: 2, objectStoreMemory: "32 MiB", targetMaxBlockSize: "64 KiB", preserveOrder: true });

/** How many blocks come out, and their mean size. */
async function blocksOf(ds: Dataset): Promise<{ blocks: number; mean: number }> {
  await using kept = await ds.materialize();
  return { blocks: kept.numBlocks, mean: kept.byteLength / kept.numBlocks };
}

/** What a session says on standard error while something runs. */
async function saidDuring(run: () => Promise<unknown>): Promise<string[]> {
  const said: string[] = [];
  const spy = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
  try {
    await run();
  } finally {
    spy.mockRestore();
  }
  return said.filter((line) => line.startsWith("spillway: "));
}

describe("the size of blocks", () => {
  test("[R2] a task's rows are cut at the target, and filled up to near it", async () => {
    const text = "x".repeat(80);
    const ds = s.range(20_000, { overrideNumBlocks: 1 }).map((row) => ({ id: row.id, text }));
    const { blocks, mean } = await blocksOf(ds);
    expect(mean).toBeLessThanOrEqual(64 * KIB);
    expect(mean).toBeGreaterThan(32 * KIB);
    expect(blocks).toBeGreaterThan(29);
    expect((await ds.takeAll()).map((row) => row.id)).toEqual(Array.from({ length: 20_000 }, (_, i) => i));
  });

  test("[R2] tables that the program gives are cut as well", async () => {
    const text = "y".repeat(1000);
    const table = await s
      .range(1000)
      .map((row) => ({ id: row.id, text }))
      .toArrow();
    await using kept = await s.fromArrow<{ id: number }>(table, { overrideNumBlocks: 1 }).materialize();
    expect(kept.numBlocks).toBeGreaterThanOrEqual(16);
    expect((await kept.takeAll()).map((row) => row.id)).toEqual(Array.from({ length: 1000 }, (_, i) => i));
  });

  test("[R2] false: one block a task; a block a batch", async () => {
    const whole = sessions.open({ workers: 1, objectStoreMemory: "32 MiB", targetMaxBlockSize: false });
    expect((await blocksOf(whole.range(500_000, { overrideNumBlocks: 1 }))).blocks).toBe(1);
    const apart = sessions.open({ workers: 1, objectStoreMemory: "32 MiB", targetMinBlockSize: false });
    const ds = apart.range(1000, { overrideNumBlocks: 1 }).mapBatches((batch) => batch, { batchSize: 100 });
    expect((await blocksOf(ds)).blocks).toBe(10);
    await Promise.all([whole.close(), apart.close()]);
  });

  test("[R2] a small store lowers the target, and says so once", async () => {
    const small = sessions.open({ workers: 2, objectStoreMemory: "4 MiB", targetMaxBlockSize: "32 MiB" });
    const ds = small.range(100_000, { overrideNumBlocks: 1 }).map((row) => ({ a: row.id, b: row.id, c: row.id }));
    const said = await saidDuring(async () => {
      expect(await ds.count()).toBe(100_000);
      await using kept = await ds.materialize();
      expect(kept.numBlocks).toBeGreaterThanOrEqual(3);
    });
    expect(said).toHaveLength(1);
    expect(said[0]).toContain("Block sizes lowered to 1.0 MiB (targetMaxBlockSize from 32.0 MiB)");
    await small.close();
  });
});

describe("what is too large", () => {
  test("[R3] a row above the target gets its own block, and one warning however many workers see such", async () => {
    const big = s.range(8, { overrideNumBlocks: 8 }).map((row) => ({ id: row.id, text: "z".repeat(100_000) }));
    let blocks = 0;
    const said = await saidDuring(async () => {
      await using kept = await big.materialize();
      blocks = kept.numBlocks;
      expect(await kept.takeAll()).toEqual(Array.from({ length: 8 }, (_, id) => ({ id, text: "z".repeat(100_000) })));
    });
    expect(blocks).toBe(8);
    // A second one is of the operator that reads them again.
    const [warning, ...others] = said.filter((line) => line.startsWith("spillway: range->map: "));
    expect(warning).toMatch(/one row takes 98\.\d KiB, more than the 64\.0 KiB/);
    expect(others).toEqual([]);
  });

  test("[R3] a row above the store's capacity is an error that says so", async () => {
    const tiny = sessions.open({ workers: 1, objectStoreMemory: "1 MiB" });
    const made = tiny.range(1).map(() => ({ text: "z".repeat(3_000_000) }));
    const failure = await made.takeAll().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(String(failure)).toMatch(
      /range->map: one row takes 2\.9 MiB \(300\d+ bytes\), but the whole store holds 1\.0 MiB/,
    );
    const given = await tiny
      .fromItems([{ text: "z".repeat(3_000_000) }])
      .count()
      .catch((error: unknown) => error);
    const taken = await tiny
      .fromItems([{ text: "z".repeat(3_000_000) }])
      .takeAll()
      .catch((error: unknown) => error);
    expect(given).toBe(1);
    expect(taken).toBeInstanceOf(StoreError);
    expect(String(taken)).toMatch(/fromItems: one row does not fit.*2\.9 MiB.*1\.0 MiB/);
    await tiny.close();
  });

  test("[R3] a batch that comes back too large is cut, with a batchSize that would fit", async () => {
    const widen = (batch: { id: Float64Array }) => ({
      id: batch.id,
      text: Array.from(batch.id, () => "w".repeat(1000)),
    });
    const ds = (batchSize: number) => s.range(4000, { overrideNumBlocks: 4 }).mapBatches(widen, { batchSize });
    const said = await saidDuring(async () => {
      const rows = await ds(1000).takeAll();
      expect(rows.map((row) => row.id)).toEqual(Array.from({ length: 4000 }, (_, i) => i));
    });
    expect(said).toHaveLength(1);
    const [, size, fits] =
      /mapBatches\(widen\): the function returned a batch of (.*) for 1000 rows.*batchSize: (\d+)/.exec(
        said[0] ?? "",
      ) ?? [];
    expect(size).toBe("989 KiB");
    expect(Number(fits)).toBeGreaterThan(60);
    expect(await saidDuring(() => ds(Number(fits)).takeAll())).toEqual([]);
  });
});

describe("overrideNumBlocks", () => {
  const at = (name: string) => join(sessions.directory, name);

  /** Ten files of one row each, and what reads them. */
  async function readers(): Promise<Readonly<Record<string, (blocks: number) => Dataset>>> {
    const ten = s.range(10, { overrideNumBlocks: 10 }).map((row) => ({ id: row.id, text: `t${row.id}` }));
    const one = s.range(10, { overrideNumBlocks: 1 });
    await ten.writeCsv(at("csv"));
    await ten.writeJson(at("json"));
    await ten.writeArrow(at("arrow"));
    await one.writeParquet(at("parquet"));
    mkdirSync(at("text"));
    for (let i = 0; i < 10; i++) writeFileSync(join(at("text"), `${i}.txt`), `line ${i}\n`);
    const items = Array.from({ length: 10 }, (_, id) => ({ id }));
    const table = await one.toArrow();
    return {
      range: (n) => s.range(10, { overrideNumBlocks: n }),
      fromItems: (n) => s.fromItems(items, { overrideNumBlocks: n }),
      fromArrow: (n) => s.fromArrow(table, { overrideNumBlocks: n }),
      readParquet: (n) => s.readParquet(at("parquet"), { overrideNumBlocks: n }),
      readCsv: (n) => s.readCsv(at("csv"), { overrideNumBlocks: n }),
      readJson: (n) => s.readJson(at("json"), { overrideNumBlocks: n }),
      readArrow: (n) => s.readArrow(at("arrow"), { overrideNumBlocks: n }),
      readText: (n) => s.readText(at("text"), { overrideNumBlocks: n }),
      readBinary: (n) => s.readBinary(at("text"), { overrideNumBlocks: n }),
    };
  }

  test("[A1] every source gives so many blocks, and not more than it has pieces", async () => {
    for (const [name, read] of Object.entries(await readers())) {
      for (const [asked, got] of [
        [1, 1],
        [3, 3],
        [10, 10],
        [25, 10],
      ] as const) {
        await using kept = await read(asked).materialize();
        expect({ name, asked, blocks: kept.numBlocks }).toEqual({ name, asked, blocks: got });
        expect(await kept.count()).toBe(10);
      }
    }
  });

  test("[A1] nothing to read is no block", async () => {
    await using none = await s.range(0, { overrideNumBlocks: 5 }).materialize();
    expect(none.numBlocks).toBe(0);
  });
});

describe("batches over small blocks", () => {
  for (const preserveOrder of [true, false]) {
    test(`[A2] a function is given full batches of many small blocks, the last the rest (preserveOrder: ${preserveOrder})`, async () => {
      const own = sessions.open({ workers: 2, preserveOrder, objectStoreMemory: "512 MiB" });
      class Counted {
        call(batch: { id: Float64Array }) {
          return { n: [batch.id.length], first: [batch.id[0] ?? -1] };
        }
      }
      // A class is not fused with a function: its input are the blocks of seven rows, which no batch is a multiple of.
      const small = own.range(1022, { overrideNumBlocks: 146 }).map((row) => ({ id: row.id }));
      const rows = await small.mapBatches(Counted, { batchSize: 100 }).takeAll();
      const sizes = rows.map((row) => row.n);
      expect(sizes.filter((n) => n !== 100)).toEqual([22]);
      expect(sizes).toHaveLength(11);
      if (preserveOrder) expect(rows.map((row) => row.first)).toEqual(Array.from({ length: 11 }, (_, i) => 100 * i));
      await own.close();
    });
  }
});

test("[A6] a sample of so many rows is that many, however small the store", async () => {
  const own = sessions.open({ workers: 2, objectStoreMemory: "8 MiB" });
  const wide = own.range(200_000).map((row) => ({ id: row.id, text: "x".repeat(100) }));
  expect((await wide.sample({ rows: 1000, seed: 1 }).takeAll()).length).toBe(1000);
  await own.close();
});
