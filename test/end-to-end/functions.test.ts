import { setTimeout as after } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { type Dataset, FunctionError } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("functions");
const s = sessions.open();
const byId = (a: { id: number }, b: { id: number }) => a.id - b.id;

describe("row functions", () => {
  test("[A2] map gives each row to the function, in worker processes", async () => {
    const rows = await s
      .range(10_000)
      .map((row) => ({ id: row.id, double: row.id * 2, pid: process.pid }))
      .takeAll();
    expect(rows.length).toBe(10_000);
    expect(rows.every((row) => row.double === row.id * 2)).toBe(true);
    expect(rows.some((row) => row.pid === process.pid)).toBe(false);
    expect(new Set(rows.map((row) => row.id)).size).toBe(10_000);
  });

  test("[A2] flatMap gives any number of rows for one", async () => {
    const rows = await s
      .range(5)
      .flatMap((row) => Array.from({ length: row.id }, (_, k) => ({ id: row.id, k })))
      .takeAll();
    expect(rows.sort((a, b) => a.id - b.id || a.k - b.k)).toEqual([
      { id: 1, k: 0 },
      { id: 2, k: 0 },
      { id: 2, k: 1 },
      { id: 3, k: 0 },
      { id: 3, k: 1 },
      { id: 3, k: 2 },
      { id: 4, k: 0 },
      { id: 4, k: 1 },
      { id: 4, k: 2 },
      { id: 4, k: 3 },
    ]);
  });

  test("[A2] flatMap takes a generator", async () => {
    const rows = await s
      .range(3)
      .flatMap(function* (row) {
        yield { v: row.id };
        yield { v: -row.id };
      })
      .takeAll();
    expect(rows.map((row) => Math.abs(row.v)).sort((a, b) => a - b)).toEqual([0, 0, 1, 1, 2, 2]);
  });

  test("[A2] flatMap hands on the rows of one row while they come", async () => {
    const rows = s.range(1, { overrideNumBlocks: 1 }).flatMap(function* () {
      for (let i = 0; i < 300_000; i++) yield { i, text: "0123456789".repeat(10) };
    });
    let n = 0;
    for await (const batch of rows.iterBatches({ batchSize: 8192 })) n += batch.i.length;
    expect(n).toBe(300_000);
    expect(rows.stats().job?.peakWorkerMemory).toBeLessThan(400e6);
  });

  test("[A4] flatMap takes an async generator", async () => {
    const rows = await s
      .range(3)
      .flatMap(async function* (row) {
        yield { v: row.id };
        await new Promise((resolve) => setTimeout(resolve, 1));
        yield { v: row.id + 10 };
      })
      .takeAll();
    expect(rows.map((row) => row.v).sort((a, b) => a - b)).toEqual([0, 1, 2, 10, 11, 12]);
  });

  test("[A2] filter by a function keeps rows as they were", async () => {
    const rows = await s
      .range(5000)
      .filter((row) => row.id % 1000 === 7)
      .takeAll();
    expect(rows.sort(byId)).toEqual([7, 1007, 2007, 3007, 4007].map((id) => ({ id })));
  });

  test("[A2] functions and SQL alternate in one pass", async () => {
    const { col } = await import("spillway");
    const rows = await s
      .range(20_000)
      .map((row) => ({ id: row.id, half: row.id / 2 }))
      .filter(col("half").lt(5))
      .withColumn("more", col("half").add(1))
      .map((row) => ({ id: row.id, text: `${row.more}` }))
      .takeAll();
    expect(rows.sort(byId)).toEqual(Array.from({ length: 10 }, (_, id) => ({ id, text: `${id / 2 + 1}` })));
  });
});

describe("batch functions", () => {
  test("[A2] a columns batch has typed arrays, of exactly batchSize rows but the last", async () => {
    const rows = await s
      .range(10_000, { overrideNumBlocks: 1 })
      .mapBatches((batch) => ({ n: [batch.id.length], kind: [batch.id.constructor.name] }), { batchSize: 3000 })
      .takeAll();
    expect(rows.map((row) => row.n)).toEqual([3000, 3000, 3000, 1000]);
    expect(new Set(rows.map((row) => row.kind))).toEqual(new Set(["Float64Array"]));
  });

  test("[A2] a batch function may take and give rows", async () => {
    const rows = await s
      .range(10, { overrideNumBlocks: 1 })
      .mapBatches((batch) => batch.map((row) => ({ id: row.id + 100 })), { batchFormat: "rows", batchSize: 4 })
      .takeAll();
    expect(rows.sort(byId).map((row) => row.id)).toEqual(Array.from({ length: 10 }, (_, i) => i + 100));
  });

  test("[A2] a batch function may take and give Arrow tables", async () => {
    const rows = await s
      .range(10)
      .mapBatches((table) => table, { batchFormat: "arrow" })
      .takeAll();
    expect(rows.map((row) => Number(row.id)).sort((a, b) => a - b)).toEqual(Array.from({ length: 10 }, (_, i) => i));
  });

  test("[A2] a generator may yield several batches", async () => {
    const rows = await s
      .range(4, { overrideNumBlocks: 1 })
      .mapBatches(function* (batch) {
        yield { id: batch.id };
        yield { id: batch.id.map((x) => -x) };
      })
      .takeAll();
    expect(rows.length).toBe(8);
  });

  test("[A2] batches are bundled across whatever pieces the steps before hand on", async () => {
    const { col } = await import("spillway");
    const base = s.range(20_000, { overrideNumBlocks: 1 });
    const before: Record<string, Dataset<{ id: number }>> = {
      map: base.map((row) => ({ id: row.id, text: "x" })),
      filter: base.filter((row) => row.id >= 0),
      sql: base.map((row) => ({ id: row.id })).filter(col("id").ge(0)),
      batches: base.mapBatches((batch) => ({ id: batch.id }), { batchSize: 700 }),
    };
    for (const [name, ds] of Object.entries(before)) {
      const sizes = await ds.mapBatches((batch) => ({ n: [batch.id.length] }), { batchSize: 3000 }).takeAll();
      expect(
        sizes.map((row) => row.n),
        name,
      ).toEqual([3000, 3000, 3000, 3000, 3000, 3000, 2000]);
    }
  });

  test("[A2] batches are bundled across small blocks", async () => {
    const small = await s.range(1000, { overrideNumBlocks: 100 }).materialize();
    const rows = await small.mapBatches((batch) => ({ n: [batch.id.length] }), { batchSize: 250 }).takeAll();
    expect(rows.reduce((sum, row) => sum + row.n, 0)).toBe(1000);
    expect(rows.length).toBeLessThanOrEqual(8);
    await small.dispose();
  });
});

describe("class functions", () => {
  test("[A3] a class is constructed once in each worker that runs it, and disposed of at the end", async () => {
    const { readdirSync, mkdirSync } = await import("node:fs");
    const log = `${sessions.directory}/class-log`;
    mkdirSync(log);
    class Model {
      readonly made: string;
      constructor(
        readonly factor: number,
        readonly log: string,
      ) {
        this.made = `${process.pid}-${Math.floor(performance.now() * 1000)}`;
        process.getBuiltinModule("node:fs").writeFileSync(`${log}/made-${this.made}`, "");
      }
      call(batch: { id: Float64Array }) {
        return { id: batch.id.map((x) => x * this.factor), made: Array.from(batch.id, () => this.made) };
      }
      dispose() {
        process.getBuiltinModule("node:fs").writeFileSync(`${this.log}/disposed-${this.made}`, "");
      }
    }
    const rows = await s
      .range(1000, { overrideNumBlocks: 20 })
      .mapBatches(Model, { constructorArgs: [3, log], concurrency: 2 })
      .takeAll();
    expect(rows.map((row) => row.id).sort((a, b) => a - b)).toEqual(Array.from({ length: 1000 }, (_, i) => i * 3));
    const files = readdirSync(log);
    const made = files.filter((name) => name.startsWith("made-"));
    const disposed = files.filter((name) => name.startsWith("disposed-"));
    expect(made.length).toBeLessThanOrEqual(2);
    expect(made.length).toBe(new Set(rows.map((row) => row.made)).size);
    expect(disposed.map((name) => name.slice(9)).sort()).toEqual(made.map((name) => name.slice(5)).sort());
  });

  test("[A3] a dispose that throws is a FunctionError that names the class and the line", async () => {
    class Stubborn {
      call(batch: { id: Float64Array }) {
        return batch;
      }
      async dispose() {
        throw new TypeError("will not go");
      }
    }
    const failure = s.range(10).mapBatches(Stubborn, { concurrency: 1 }).takeAll();
    await expect(failure).rejects.toBeInstanceOf(FunctionError);
    await expect(failure).rejects.toMatchObject({ errorName: "TypeError" });
    await expect(failure).rejects.toThrow(
      /Stubborn.*: its dispose\(\) failed: TypeError: will not go\n.*functions\.test\.ts:\d+/,
    );
  });

  test("[A3] a failing constructor shows where", async () => {
    class Broken {
      constructor() {
        throw new Error("no model");
      }
      call(batch: { id: number[] }) {
        return batch;
      }
    }
    await expect(
      s
        .range(1)
        .mapBatches(Broken as never)
        .takeAll(),
    ).rejects.toThrow(/no model\n.*at new Broken .*functions\.test/);
  });

  test("[A3] concurrency 1 runs a class in one worker only", async () => {
    class Pid {
      call(batch: { id: Float64Array }) {
        return { pid: Array.from(batch.id, () => process.pid) };
      }
    }
    const rows = await s.range(200, { overrideNumBlocks: 10 }).mapBatches(Pid, { concurrency: 1 }).takeAll();
    expect(rows.length).toBe(200);
    expect(new Set(rows.map((row) => row.pid)).size).toBe(1);
  });
});

describe("async functions", () => {
  test("[A4] what can be awaited counts as a promise: of another realm, or of a library's own kind", async () => {
    class Query {
      constructor(readonly id: number) {}
      // biome-ignore lint/suspicious/noThenProperty: what libraries of queries do.
      then(done: (row: { id: number }) => void): void {
        setTimeout(() => done({ id: this.id * 2 }), 1);
      }
    }
    const queries = s.range(3).map((row) => new Query(row.id) as unknown as Promise<{ id: number }>);
    expect(await queries.takeAll()).toEqual([{ id: 0 }, { id: 2 }, { id: 4 }]);
    const elsewhere = s.range(2).map((row) => {
      const made: Promise<{ when: Date }> = runInNewContext(`Promise.resolve({ when: new Date(${row.id}) })`);
      return made;
    });
    expect(await elsewhere.takeAll()).toEqual([{ when: new Date(0) }, { when: new Date(1) }]);
    const even = s.range(4).filter((row) => runInNewContext(`Promise.resolve(${row.id % 2 === 0})`));
    expect(await even.count()).toBe(2);
    const batches = s
      .range(2)
      .mapBatches((batch) => runInNewContext("Promise.resolve({ n: [n] })", { n: batch.id.length }));
    expect((await batches.takeAll()).length).toBeGreaterThan(0);
  });

  test("[A4] many calls are under way at once, up to maxInFlight", async () => {
    const rows = await s
      .range(100, { overrideNumBlocks: 1 })
      .map(
        async (row) => {
          const state = globalThis as { running?: number; most?: number };
          state.running = (state.running ?? 0) + 1;
          state.most = Math.max(state.most ?? 0, state.running);
          await new Promise((resolve) => setTimeout(resolve, 5));
          state.running--;
          return { id: row.id, most: state.most };
        },
        { maxInFlight: 25 },
      )
      .takeAll();
    expect(rows.length).toBe(100);
    const most = Math.max(...rows.map((row) => row.most));
    expect(most).toBeGreaterThan(10);
    expect(most).toBeLessThanOrEqual(25);
  });

  test("[A4] results keep the order of the calls", async () => {
    const rows = await s
      .range(50, { overrideNumBlocks: 1 })
      .map(
        async (row) => {
          await new Promise((resolve) => setTimeout(resolve, (50 - row.id) / 5));
          return { id: row.id };
        },
        { maxInFlight: 50 },
      )
      .takeAll();
    expect(rows.map((row) => row.id)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });

  test("[A4] async filter, flatMap and mapBatches", async () => {
    const rows = await s
      .range(20)
      .filter(async (row) => row.id % 2 === 0)
      .flatMap(async (row) => [{ id: row.id }, { id: row.id + 1 }])
      .mapBatches(async (batch) => ({ id: batch.id.map((x) => x + 1) }))
      .takeAll();
    expect(rows.map((row) => row.id).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    await after(0);
  });
});
