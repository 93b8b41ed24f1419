/**
 * Functions that need more memory than there is, with real workers: they get through with less, or fail with the whole
 * story.
 */
import { OutOfMemoryError } from "spillway";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("out-of-memory");

/** Node has it; its types do not. */
declare const WebAssembly: {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => { grow(by: number): number };
};

/** Two workers of 128 MiB (a heap of 96) in 640 MiB: room for one of a few hundred. */
const SMALL = {
  workers: 2,
  memoryLimit: "128 MiB",
  objectStoreMemory: "64 MiB",
  resourceLimits: { memory: "640 MiB" },
} as const;

/** Keeps 1 MiB of heap for each row of the batch. */
const hungry = (batch: { id: Float64Array | number[] }) => {
  const kept: number[][] = [];
  for (const id of batch.id) kept.push(new Array<number>(131_072).fill(Number(id) + 0.5));
  return { id: Array.from(batch.id, Number), rows: Array.from(batch.id, () => kept.length) };
};

test("[M3] a function that needs memory in proportion to its batch gets a smaller one, and the next run begins with it", async () => {
  const s = sessions.open(SMALL);
  const events: { readonly type: string }[] = [];
  s.onEvent((event) => events.push(event));
  const ds = s.range(256, { overrideNumBlocks: 1 }).mapBatches(hungry, { batchSize: 128 });
  const rows = await ds.takeAll();
  expect(rows.map(({ id }) => id).sort((a, b) => a - b)).toEqual(Array.from({ length: 256 }, (_, i) => i));
  const [operator] = ds.stats().operators;
  expect(operator?.oomRetries).toBeGreaterThanOrEqual(1);
  expect(operator?.retries).toBe(0);
  const size = operator?.learned?.batchSize ?? 0;
  expect([64, 32]).toContain(size);
  expect(Math.max(...rows.map((row) => row.rows))).toBe(size);
  const retries = events.filter(({ type }) => type === "oomRetry");
  expect(retries.length).toBe(operator?.oomRetries);
  expect(retries[0]).toMatchObject({ attempt: 1, asked: { batchSize: null }, files: [], worker: expect.any(Number) });
  expect(retries[0]).toMatchObject({ remedies: expect.arrayContaining([expect.stringContaining("batchSize: ")]) });
  expect(String(ds.stats())).toMatch(
    new RegExp(`Memory: ran out of memory (once|\\d times); since then batches of ${size} rows`),
  );
  expect(await ds.explain()).toMatch(new RegExp(`memory: ran out of memory .* since then batches of ${size} rows`));
  // Another dataset with the same function; nothing has to be found out again.
  const again = s.range(256, { overrideNumBlocks: 1 }).mapBatches(hungry, { batchSize: 128 });
  expect((await again.takeAll()).length).toBe(256);
  expect(again.stats().operators[0]).toMatchObject({ oomRetries: 0, learned: { batchSize: size } });
  expect(String(again.stats())).toContain("as it was found before");
  await s.close();
});

test("[M3] a row that needs more than a worker has is run in one that has it, in the end alone", async () => {
  const s = sessions.open(SMALL);
  const large = (row: { id: number }) => {
    const kept: number[][] = [];
    for (let i = 0; i < 200; i++) kept.push(new Array<number>(131_072).fill(i + 0.5));
    return { id: row.id, mebibytes: kept.length };
  };
  const ds = s.range(3, { overrideNumBlocks: 3 }).map(large);
  expect((await ds.takeAll()).map(({ mebibytes }) => mebibytes)).toEqual([200, 200, 200]);
  const learned = ds.stats().operators[0]?.learned;
  expect(learned?.memory ?? 0).toBeGreaterThanOrEqual(256 * 2 ** 20);
  // Afterwards all is as before.
  expect(
    await s
      .range(10)
      .map((row) => ({ id: row.id + 1 }))
      .count(),
  ).toBe(10);
  await s.close();
});

test("[M3] memory that is refused is no fault of the row: onError does not drop it, a smaller batch gets it", async () => {
  const s = sessions.open(SMALL);
  const ds = s.range(32, { overrideNumBlocks: 1 }).mapBatches(
    (batch) => {
      const made = Buffer.alloc(batch.id.length * 30_000_000);
      return { id: Array.from(batch.id, (id) => Number(id) + (made[0] ?? 0)) };
    },
    { batchSize: 32, onError: "skip" },
  );
  expect((await ds.takeAll()).length).toBe(32);
  expect(ds.stats().operators[0]).toMatchObject({ errored: 0 });
  await s.close();
});

test("[M3] a row that asks for more than the machine has is its own fault: onError drops it, and only it", async () => {
  const s = sessions.open({ ...SMALL, workers: 1 });
  const ds = s.range(8, { overrideNumBlocks: 2 }).map(
    (row) => {
      const bytes = row.id === 5 ? 2 ** 45 : 100_000_000;
      return { id: row.id, bytes: new ArrayBuffer(bytes).byteLength };
    },
    { onError: "skip" },
  );
  expect((await ds.takeAll()).map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 6, 7]);
  expect(ds.stats().operators[0]).toMatchObject({ errored: 1 });
  await s.close();
});

test("[M3] of a function that keeps what it makes until memory is full no row is dropped", async () => {
  // It has all that there is from the first attempt on.
  const s = sessions.open({ ...SMALL, workers: 1, memoryLimit: "512 MiB", resourceLimits: { memory: "600 MiB" } });
  const ds = s.range(100, { overrideNumBlocks: 1 }).map(
    (row) => {
      const kept: ArrayBuffer[] = Object(globalThis).kept ?? [];
      Object(globalThis).kept = kept;
      kept.push(new ArrayBuffer(50_000_000));
      return row;
    },
    { onError: "skip" },
  );
  // With almost nothing left, V8 may be refused the next page of its own heap first, and ends the process.
  const reason = expect.stringMatching(/^(allocation|heap)$/);
  await expect(ds.takeAll()).rejects.toMatchObject({ name: "OutOfMemoryError", reason });
  await s.close();
});

test.each(["grow", "begin"])("[M3] so is memory that WebAssembly is refused: %s", async (how) => {
  const s = sessions.open(SMALL);
  const PAGES = 16_000;
  const ds = s.range(1).map(() => {
    const memory = new WebAssembly.Memory({ initial: how === "grow" ? 1 : PAGES, maximum: 2 * PAGES });
    return { bytes: memory.grow(PAGES) };
  });
  await expect(ds.takeAll()).rejects.toMatchObject({ name: "OutOfMemoryError", reason: "allocation" });
  await s.close();
});

test("[M3] an async function whose calls do not fit together has fewer of them under way", async () => {
  const s = sessions.open(SMALL);
  const ds = s.range(24, { overrideNumBlocks: 1 }).map(
    async (row) => {
      const made = Buffer.alloc(50_000_000, 1);
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { id: row.id * (made[0] ?? 0) };
    },
    { maxInFlight: 24 },
  );
  expect((await ds.takeAll()).map(({ id }) => id)).toEqual(Array.from({ length: 24 }, (_, i) => i));
  expect(ds.stats().operators[0]?.oomRetries).toBeGreaterThanOrEqual(1);
  await s.close();
});

test("[M4] [D9] what can never fit ends in an error with the figures, what was tried, and what to do", async () => {
  const s = sessions.open(SMALL);
  const endless = (batch: { id: Float64Array | number[] }) => {
    const kept: number[][] = [];
    for (;;) kept.push(new Array<number>(131_072).fill(batch.id.length + 0.5));
  };
  const ds = s.range(4, { overrideNumBlocks: 1 }).mapBatches(endless, { batchSize: 4, maxOomRetries: 3 });
  const error = await ds.takeAll().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OutOfMemoryError)) throw error;
  expect(error).toMatchObject({ reason: "heap", attempts: 4 });
  expect(error.message).toMatch(/^Task was killed due to the node running low on memory\.\n/);
  expect(error.message).toContain("attempts: 4\n    1. as it was: heap");
  expect(error.message).toContain("2. batches of 2 rows: heap");
  expect(error.message).toMatch(/3\. batches of 1 row, \d at once: heap/);
  expect(error.message).toContain("4. batches of 1 row, alone on the machine: heap");
  expect(error.message).toMatch(/Its log: cat .*worker-\d+\.log/);
  expect(error.remedies.at(-1)).toMatch(/^A machine or control group with more memory/);
  // Once more without a retry; the session is as good as before.
  const once = s.range(1).mapBatches(endless, { batchSize: 4, maxOomRetries: 0 });
  await expect(once.takeAll()).rejects.toMatchObject({ attempts: 1, reason: "heap" });
  expect(await s.range(10).count()).toBe(10);
  await s.close();
});

test("[D7] memory that a function asks for is reserved before its task starts: one at a time where two do not fit", async () => {
  const s = sessions.open({ workers: 2, resourceLimits: { memory: "1 GiB" } });
  const timed = (row: { id: number }) => {
    // The one clock that all processes have in common.
    const now = () => Number(process.hrtime.bigint()) / 1e6;
    const from = now();
    while (now() < from + 50) {
      // Computes.
    }
    return { id: row.id, from, to: now() };
  };
  const rows = await s.range(4, { overrideNumBlocks: 4 }).map(timed, { memory: "600 MiB" }).takeAll();
  rows.sort((a, b) => a.from - b.from);
  for (const [i, row] of rows.entries()) expect(row.from).toBeGreaterThanOrEqual(rows[i - 1]?.to ?? 0);
  await s.close();
});
