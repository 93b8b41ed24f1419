/**
 * What the program keeps in the store, and what it no longer refers to: both in stores and on disks that are nearly
 * full.
 */
import { describe, expect, test } from "vitest";
import { checkRows, KIB, kilobyteRows, rowsOf, SMALL, spillingSessions } from "../support/spilling-sessions.ts";

const { open } = spillingSessions("kept-data");
const STORE = 512 * KIB;

test("[R6] results that nothing refers to any more make room for the next, also where the disk has no more", async () => {
  const s = open({ ...SMALL, workers: 1, objectStoreMemory: STORE, maxSpill: STORE });
  const rows = 600;
  // Each takes more than half of what store and disk hold together. What a function has left it refers to no longer.
  const one = async () => {
    const kept = await kilobyteRows(s, rows).materialize();
    expect(await kept.count()).toBe(rows);
  };
  for (let i = 0; i < 4; i++) await one();
  const { used } = await s.resources();
  expect(used.objectStoreMemory).toBeLessThanOrEqual(STORE);
});

test.each([1, 2])(
  "[D3] kept data that store and disk hold together is read back while both are nearly full (workers: %i)",
  async (workers) => {
    const s = open({ ...SMALL, workers, objectStoreMemory: STORE, maxSpill: STORE });
    const rows = 850;
    const kept = await kilobyteRows(s, rows).materialize();
    checkRows(await rowsOf(kept), rows);
    checkRows(await kept.map((row) => ({ id: row.id, text: row.text })).takeAll(), rows);
  },
);

test.each([1, 2])(
  "[O4] repartition gets through a store that is smaller than its input (workers: %i)",
  async (workers) => {
    const s = open({ workers, objectStoreMemory: 2 * STORE });
    const rows = 3_000;
    for (const parts of [1, 2, 5]) checkRows(await rowsOf(kilobyteRows(s, rows).repartition(parts)), rows);
    checkRows(await rowsOf(kilobyteRows(s, rows).intoPartitions(1)), rows);
  },
);

describe("in a store that is smaller than the rows", () => {
  const small = { ...SMALL, objectStoreMemory: STORE };

  test("[O4] a sample of n rows takes what all of its tasks chose", async () => {
    const s = open(small);
    for (const rows of [1_000_000, 500]) {
      const sampled = await kilobyteRows(s, 850).sample({ rows, seed: 5 }).takeAll();
      expect(new Set(sampled.map(({ id }) => id)).size).toBe(Math.min(850, rows));
    }
  });

  test.each([10_000, 90_000])("[O4] a sort with exchange goes by keys of %i bytes", async (width) => {
    const s = open({ ...small, exchange: true });
    const rows = Math.ceil(700_000 / width);
    const keyed = s.range(rows, { overrideNumBlocks: 4 }).map(({ id }) => {
      return { id, head: String(id % 7).repeat(width), tail: String(id % 5).padStart(width, "-") };
    });
    const order = (keys: readonly ("head" | "tail" | "id")[]) => keyed.sort([...keys]).takeAll();
    const ids = Array.from({ length: rows }, (_, id) => id);
    const byHead = (await order(["head", "id"])).map(({ id }) => id);
    expect(byHead).toEqual([...ids].sort((a, b) => (a % 7) - (b % 7) || a - b));
    const byTail = (await order(["tail", "id"])).map(({ id }) => id);
    expect(byTail).toEqual([...ids].sort((a, b) => (a % 5) - (b % 5) || a - b));
  });
});
