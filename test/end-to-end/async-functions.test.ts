/** Many calls under way at once, some of them slow (A4). */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("async-functions");

/**
 * Answers each call at once, but the first only when the call of row `until` has been made: without that it never ends.
 */
const patient = (until: number) => async (id: number) => {
  const state = globalThis as { reached?: (() => void) | undefined };
  if (id === 0) {
    await new Promise<void>((resolve) => {
      state.reached = resolve;
    });
  }
  if (id === until) state.reached?.();
};

describe("a slow call", () => {
  const s = sessions.open({ workers: 1 });
  const ROWS = 6000;
  const ids = Array.from({ length: ROWS }, (_, id) => id);
  const answer = patient(ROWS - 1);
  const source = () => s.range(ROWS, { overrideNumBlocks: 1 });

  test("[A4] of map does not hold up thousands of others, and results keep their order", async () => {
    const rows = await source()
      .map(
        async (row) => {
          await answer(row.id);
          return { id: row.id };
        },
        { maxInFlight: 8 },
      )
      .takeAll();
    expect(rows.map(({ id }) => id)).toEqual(ids);
  });

  test("[A4] of flatMap does not either", async () => {
    const rows = await source()
      .flatMap(
        async (row) => {
          await answer(row.id);
          return [{ id: row.id }];
        },
        { maxInFlight: 8 },
      )
      .takeAll();
    expect(rows.map(({ id }) => id)).toEqual(ids);
  });

  test("[A4] of an async generator does not either: generators are begun at once, and read in their turn", async () => {
    const rows = await source()
      .flatMap(
        async function* (row) {
          await answer(row.id);
          yield { id: row.id };
          yield { id: row.id };
        },
        { maxInFlight: 8 },
      )
      .takeAll();
    expect(rows.map(({ id }) => id)).toEqual(ids.flatMap((id) => [id, id]));
  });

  test("[A4] of filter does not either, beyond its batch", async () => {
    const rows = await source()
      .filter(
        async (row) => {
          await answer(row.id);
          return row.id % 3 !== 1;
        },
        { maxInFlight: 8 },
      )
      .takeAll();
    expect(rows.map(({ id }) => id)).toEqual(ids.filter((id) => id % 3 !== 1));
  });

  test("[A4] of mapBatches does not either", async () => {
    const rows = await source()
      .mapBatches(
        async (batch) => {
          for (const id of batch.id) await answer(id);
          return { id: batch.id };
        },
        { maxInFlight: 8, batchSize: 2 },
      )
      .takeAll();
    expect(rows.map(({ id }) => id)).toEqual(ids);
  });

  test("[A4] of mapGroups does not either", async () => {
    const rows = await source()
      .groupBy("id")
      .mapGroups(
        async (group) => {
          // Groups come by partitions: the first call waits for the three hundredth, whichever group that is.
          const state = globalThis as { groups?: number; enough?: () => void };
          state.groups = (state.groups ?? 0) + 1;
          if (state.groups === 300) state.enough?.();
          if (state.groups === 1) {
            await new Promise<void>((resolve) => {
              state.enough = resolve;
            });
          }
          return { id: group.id };
        },
        { maxInFlight: 8 },
      )
      .takeAll();
    expect(rows.map(({ id }) => id).sort((a, b) => a - b)).toEqual(ids);
  });
});

test("[A4] a worker that is killed while results wait behind slow calls: the same blocks again, in the same order", async () => {
  const s = sessions.open({ workers: 1, targetMaxBlockSize: "16 KiB", targetMinBlockSize: false });
  const killed = join(sessions.directory, "killed");
  const ROWS = 4000;
  const ds = s.range(ROWS, { overrideNumBlocks: 1 }).map(
    async (row) => {
      // Which calls are slow differs between the two runs.
      const isAgain = existsSync(killed);
      if ((row.id + (isAgain ? 3 : 0)) % 100 === 7) await new Promise((resolve) => setTimeout(resolve, 20));
      if (row.id === 3500 && !isAgain) {
        writeFileSync(killed, "");
        process.kill(process.pid, "SIGKILL");
      }
      return { id: row.id, text: `row ${row.id} `.padEnd(60, "·") };
    },
    { maxInFlight: 50 },
  );
  const ids: number[] = [];
  for await (const row of ds.iterRows({ prefetch: 100 })) ids.push(row.id);
  expect(ids).toEqual(Array.from({ length: ROWS }, (_, id) => id));
  expect(ds.stats().operators[0]).toMatchObject({ retries: 1 });
});

test("[A4] [A14] dead letters of an async filter are in the order of the calls, whichever failed first", async () => {
  const s = sessions.open({ workers: 1 });
  const letters = join(sessions.directory, "letters");
  const none = s.range(20, { overrideNumBlocks: 1 }).filter(
    async (row) => {
      await new Promise((resolve) => setTimeout(resolve, 40 - 2 * row.id));
      throw new Error(`no ${row.id}`);
    },
    { maxInFlight: 20, onError: { deadLetter: letters } },
  );
  expect(await none.count()).toBe(0);
  const lines = readdirSync(letters).flatMap((file) => readFileSync(join(letters, file), "utf8").trim().split("\n"));
  expect(lines.map((line) => JSON.parse(line).row)).toEqual(Array.from({ length: 20 }, (_, id) => id));
});

test("[A4] async generators that were begun and are not wanted are closed", async () => {
  const s = sessions.open({ workers: 1 });
  const closed = join(sessions.directory, "closed");
  mkdirSync(closed);
  const rows = await s
    .range(50, { overrideNumBlocks: 1 })
    .flatMap(
      async function* (row) {
        const state = globalThis as { begun?: () => void };
        try {
          if (row.id === 3) state.begun?.();
          if (row.id === 0) {
            await new Promise<void>((resolve) => {
              state.begun = resolve;
            });
          }
          for (;;) yield { id: row.id };
        } finally {
          writeFileSync(join(closed, String(row.id)), "");
        }
      },
      { maxInFlight: 4 },
    )
    .take(3);
  expect(rows.map(({ id }) => id)).toEqual([0, 0, 0]);
  // All that were under way, not only the one whose rows were taken.
  await expect.poll(() => readdirSync(closed)).toEqual(expect.arrayContaining(["0", "1", "2", "3"]));
});
