/**
 * Consuming calls that end early, by a signal or a timeout (A17): at once, with their reason, and nothing is left of
 * them.
 */

import { getEventListeners } from "node:events";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { CancelledError, type CancelOptions, col, type Dataset, OptionError } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("cancellation");
const s = sessions.open({ workers: 2 });

/** No row of it ever comes. */
const endless = () =>
  s.range(10, { overrideNumBlocks: 2 }).map(async (row) => {
    await new Promise(() => setInterval(() => {}, 1000));
    return { id: row.id };
  });

/** Blocks keep coming. */
const flowing = () =>
  s.range(100, { overrideNumBlocks: 1 }).flatMap(function* (row) {
    for (let i = 0; ; i++) yield { id: row.id, i, text: "x".repeat(1000) };
  });

async function failure(run: Promise<unknown>): Promise<CancelledError> {
  const error = await run.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof CancelledError) return error;
  throw new Error(`it was not cancelled: ${String(error)}`);
}

/** No task runs, and the store is empty. */
async function nothingLeft(): Promise<void> {
  await expect
    .poll(async () => {
      const [{ used, workers }, { store }] = [await s.resources(), await s.memory()];
      return { tasks: workers.filter(({ task }) => task !== null).length, cpu: used.cpu, stored: store.resident };
    })
    .toEqual({ tasks: 0, cpu: 0, stored: 0 });
}

/** Each consuming method, over a dataset that never ends. */
const METHODS: Readonly<Record<string, (ds: Dataset<{ id: number }>, options: CancelOptions) => Promise<unknown>>> = {
  take: (ds, options) => ds.take(3, options),
  takeAll: (ds, options) => ds.takeAll(options),
  show: (ds, options) => ds.show(3, options),
  count: (ds, options) => ds.count(options),
  schema: (ds, options) => ds.schema(options),
  toArrow: (ds, options) => ds.toArrow(options),
  materialize: (ds, options) => ds.materialize(options),
  numPartitions: (ds, options) => ds.repartition({ targetBytes: "1 MiB" }).numPartitions(options),
  split: (ds, options) => ds.split(2, options),
  trainTestSplit: (ds, options) => ds.trainTestSplit({ testSize: 0.5, ...options }),
  explain: (ds, options) => ds.explain({ analyze: true, ...options }),
  agg: (ds, options) => ds.agg({ total: col("id").sum() }, options),
  sum: (ds, options) => ds.sum("id", options),
  mean: (ds, options) => ds.mean("id", options),
  min: (ds, options) => ds.min("id", options),
  max: (ds, options) => ds.max("id", options),
  std: (ds, options) => ds.std("id", options),
  var: (ds, options) => ds.var("id", options),
  quantile: (ds, options) => ds.quantile("id", 0.1, options),
  median: (ds, options) => ds.median("id", options),
  countDistinct: (ds, options) => ds.countDistinct("id", options),
  writeParquet: (ds, options) => ds.writeParquet(join(sessions.directory, "out", "parquet"), options),
  writeCsv: (ds, options) => ds.writeCsv(join(sessions.directory, "out", "csv"), options),
  writeJson: (ds, options) => ds.writeJson(join(sessions.directory, "out", "json"), options),
  writeArrow: (ds, options) => ds.writeArrow(join(sessions.directory, "out", "arrow"), options),
  iterRows: async (ds, options) => {
    for await (const row of ds.iterRows(options)) throw new Error(`a row came: ${row.id}`);
  },
  iterBatches: async (ds, options) => {
    for await (const batch of ds.iterBatches(options)) throw new Error(`a batch came: ${batch.id[0]}`);
  },
  toNodeStream: async (ds, options) => {
    for await (const row of ds.toNodeStream(options)) throw new Error(`a row came: ${String(row)}`);
  },
};

describe("every consuming method", () => {
  test.each(Object.entries(METHODS))("[A17] %s ends with its signal, and with its timeout", async (name, run) => {
    mkdirSync(join(sessions.directory, "out"), { recursive: true });
    const controller = new AbortController();
    const running = failure(run(endless(), { signal: controller.signal }));
    await expect.poll(async () => (await s.resources()).workers.some(({ task }) => task !== null)).toBe(true);
    const reason = new Error("the user has left");
    controller.abort(reason);
    const error = await running;
    expect(error).toMatchObject({ name: "AbortError", code: "ABORT_ERR", operator: name, cause: reason });
    expect(error.message).toMatch(new RegExp(`^${name} was cancelled by its signal after .*: the user has left$`));
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);

    const late = await failure(run(endless(), { timeout: "30ms" }));
    expect(late).toMatchObject({ name: "AbortError", operator: name, cause: { name: "TimeoutError" } });
    expect(late.message).toMatch(new RegExp(`^${name} was cancelled after .*: its timeout is 30ms\\.$`));
    expect(late.after).toBeGreaterThanOrEqual(29);
    expect(readdirSync(join(sessions.directory, "out"))).toEqual([]);
    await nothingLeft();
  });

  test.each(Object.entries(METHODS))(
    "[A17] %s starts nothing where its signal has aborted already",
    async (name, run) => {
      const idle = sessions.open({ workers: 1 });
      const ds = idle.range(10).map((row) => ({ id: row.id }));
      const error = await failure(run(ds, { signal: AbortSignal.abort("no") }));
      expect(error).toMatchObject({ operator: name, cause: "no" });
      expect(existsSync(join(sessions.directory, "out", "parquet"))).toBe(false);
      await idle.close();
    },
  );

  test("[A17] a signal that does not abort, and time that is enough, change nothing and leave no listener", async () => {
    const { signal } = new AbortController();
    const ds = s.range(100).map((row) => ({ id: row.id }));
    const runs = Array.from({ length: 12 }, () => ds.takeAll({ signal, timeout: "1h" }));
    // Twelve calls share one listener: Node warns of the eleventh.
    expect(getEventListeners(signal, "abort").length).toBe(1);
    for (const rows of await Promise.all(runs)) expect(rows.length).toBe(100);
    for await (const row of ds.iterRows({ signal, timeout: "60d" })) if (row.id === 3) break;
    for await (const batch of ds.iterBatches({ signal })) if (batch.id.length > 0) break;
    expect(await ds.count({ signal })).toBe(100);
    await expect(ds.select("nothing" as "id").takeAll({ signal })).rejects.toThrow(/no column/);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("[A17] what is no signal and no duration is refused", async () => {
    const ds = s.range(3);
    await expect(ds.takeAll({ signal: "soon" as unknown as AbortSignal })).rejects.toThrow(
      'takeAll: signal is "soon"; it must be an AbortSignal.',
    );
    await expect(ds.count({ timeout: "soon" })).rejects.toThrow(/count: timeout: "soon" is not a duration/);
    await expect(ds.sum("id", { timout: 3 } as CancelOptions)).rejects.toThrow(OptionError);
    expect(() => ds.iterRows({ timeout: -1 })).toThrow(OptionError);
  });
});

describe("an iterator", () => {
  test("[A17] that is aborted between rows gives no more of its block, and lets go of it", async () => {
    const controller = new AbortController();
    let rows = 0;
    const reading = async () => {
      for await (const row of flowing().iterRows({ signal: controller.signal })) {
        rows++;
        if (row.i === 5) controller.abort();
      }
    };
    const error = await failure(reading());
    expect(rows).toBe(6);
    expect(error.cause).toMatchObject({ name: "AbortError" });
    await nothingLeft();
  });

  test("[A17] of batches the same", async () => {
    const controller = new AbortController();
    let batches = 0;
    const reading = async () => {
      for await (const _ of flowing().iterBatches({ batchSize: 10, signal: controller.signal })) {
        batches++;
        if (batches === 3) controller.abort();
      }
    };
    await failure(reading());
    expect(batches).toBe(3);
    await nothingLeft();
  });

  test("[A17] that nobody reads on frees what it holds when its signal aborts", async () => {
    const controller = new AbortController();
    const rows = flowing().iterRows({ signal: controller.signal });
    const batches = flowing().iterBatches({ signal: controller.signal });
    await rows.next();
    await batches.next();
    controller.abort();
    await nothingLeft();
    await failure(rows.next());
    await failure(batches.next());
    expect((await rows.next()).done).toBe(true);
  });

  test("[A17] as a stream that nobody reads is destroyed with the reason", async () => {
    const controller = new AbortController();
    const stream = flowing().toNodeStream({ signal: controller.signal });
    const failed = new Promise((resolve) => stream.once("error", resolve));
    await new Promise((resolve) => stream.once("readable", resolve));
    controller.abort();
    expect(await failed).toBeInstanceOf(CancelledError);
    expect(stream.destroyed).toBe(true);
    await nothingLeft();
  });

  test("[A17] has its time for all of its loop", async () => {
    const reading = async () => {
      for await (const _ of flowing().iterRows({ timeout: 50 })) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    expect((await failure(reading())).cause).toMatchObject({ name: "TimeoutError" });
    await nothingLeft();
  });
});

test("[A17] a call that waits for others' workers is cancelled where it stands", async () => {
  const one = sessions.open({ workers: 1 });
  const controller = new AbortController();
  const busy = failure(
    one
      .range(1)
      .map(async (row) => {
        await new Promise(() => setInterval(() => {}, 1000));
        return row;
      })
      .takeAll({ signal: controller.signal }),
  );
  await expect.poll(async () => (await one.resources()).workers.some(({ task }) => task !== null)).toBe(true);
  const queued = await failure(
    one
      .range(1)
      .map((row) => row)
      .writeParquet(join(sessions.directory, "queued"), { timeout: 50 }),
  );
  expect(queued.operator).toBe("writeParquet");
  expect(existsSync(join(sessions.directory, "queued"))).toBe(false);
  controller.abort();
  await busy;
  await one.close();
});

test("[A17] a function that computes without end does not keep its call", async () => {
  const controller = new AbortController();
  const spinning = failure(
    s
      .range(1)
      .map((row) => {
        for (;;) if (row.id < 0) return row;
      })
      .writeCsv(join(sessions.directory, "spinning"), { signal: controller.signal }),
  );
  await expect.poll(async () => (await s.resources()).workers.some(({ task }) => task !== null)).toBe(true);
  controller.abort();
  await spinning;
  expect(readdirSync(sessions.directory).filter((name) => name.includes("spinning"))).toEqual([]);
  await nothingLeft();
});

test("[A17] a pipeline's windows end the same way", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const windows = () => s.range(100, { overrideNumBlocks: 4 }).window({ blocks: 1 }).repeat();
  let rows = 0;
  const reading = async () => {
    for await (const _ of windows().iterRows({ signal })) {
      rows++;
      if (rows === 250) controller.abort();
    }
  };
  const error = await failure(reading());
  expect(rows).toBe(250);
  expect(error.operator).toBe("iterRows");
  const slow = () => endless().window({ blocks: 1 });
  const failures = await Promise.all([
    failure(slow().take(2, { timeout: 30 })),
    failure(slow().count({ timeout: 30 })),
    failure(slow().schema({ timeout: 30 })),
    failure(slow().writeJson(join(sessions.directory, "windows"), { timeout: 30 })),
  ]);
  for (const { cause } of failures) expect(cause).toMatchObject({ name: "TimeoutError" });
  expect(existsSync(join(sessions.directory, "windows"))).toBe(false);
  await nothingLeft();
});

test("[O10] the figures of a run that was left are those that it was told last, and no task of it runs", async () => {
  const s = sessions.open({ workers: 1, targetMaxBlockSize: "64 KiB" });
  const ds = s.range(100_000, { overrideNumBlocks: 2 }).map((row) => {
    const end = performance.now() + 0.1;
    while (performance.now() < end);
    return row;
  });
  const running = () => ds.stats().operators.reduce((sum, { tasksRunning }) => sum + tasksRunning, 0);
  for await (const _ of ds.iterRows()) if (running() > 0) break;
  expect(ds.stats().job).not.toBeNull();
  expect(running()).toBe(0);
  await s.close();
});
