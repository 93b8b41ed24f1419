/** What the program keeps in the store, and what it no longer refers to: both in stores and on disks that are nearly full. */
import { expect, test } from "vitest";
import { check, KIB, rowsOf, SMALL, spillingSessions, wide } from "../support/spilled.ts";

const { open } = spillingSessions("kept-data");
const STORE = 512 * KIB;

test("[R6] results that nothing refers to any more make room for the next, also where the disk has no more", async () => {
  const s = open({ ...SMALL, workers: 1, objectStoreMemory: STORE, maxSpill: STORE });
  const rows = 600;
  // Each takes more than half of what store and disk hold together. What a function has left it refers to no longer.
  const one = async () => {
    const kept = await wide(s, rows).materialize();
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
    const kept = await wide(s, rows).materialize();
    check(await rowsOf(kept), rows);
    check(await kept.map((row) => ({ id: row.id, text: row.text })).takeAll(), rows);
  },
);

test.each([1, 2])(
  "[O4] repartition gets through a store that is smaller than its input (workers: %i)",
  async (workers) => {
    const s = open({ workers, objectStoreMemory: 2 * STORE });
    const rows = 3_000;
    for (const parts of [1, 2, 5]) check(await rowsOf(wide(s, rows).repartition(parts)), rows);
    check(await rowsOf(wide(s, rows).intoPartitions(1)), rows);
  },
);
