/** The pool with real processes that are ended for memory, and a clock that the test moves. */
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import type { SpillwayError } from "../../src/errors/index.ts";
import type { MemoryGauge } from "../../src/memory/index.ts";
import { SOCKET, type ToWorker, Wire, type WorkerId, type WorkerMessage } from "../../src/protocol/index.ts";
import type { WorkerEnd } from "../../src/scheduler/index.ts";
import { Witness } from "../../src/supervisor/witness.ts";
import { WorkerPool } from "../../src/supervisor/worker-pool.ts";
import { TestClock } from "../support/clock.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const WORKER = fileURLToPath(new URL("./fake-worker.mjs", import.meta.url));
const directory = temporaryDirectory("restarts");
const MIB = 2 ** 20;

class TestPool {
  readonly clock = new TestClock();
  readonly ends: WorkerEnd[] = [];
  readonly errors: { readonly error: SpillwayError; readonly until: string }[] = [];
  readonly ready = new Set<WorkerId>();
  readonly pool: WorkerPool;
  readonly #server: Server;
  #onChange = () => {};

  constructor(name: string, workers: number) {
    const own = mkdtempSync(join(directory, "session-"));
    this.#server = createServer((connection) => {
      const wire = new Wire<WorkerMessage, ToWorker>(connection);
      wire.onMessage((message) => {
        if (message.type === "ready") this.pool.connect(message.worker, message.pid, wire);
      });
    }).listen(join(own, SOCKET));
    const gauge: MemoryGauge = {
      process: () => null,
      node: () => ({ used: 960 * MIB, total: 1000 * MIB }),
      oomKills: () => ({ container: 0, machine: 0, ours: 0 }),
      users: () => this.pool.workers.map(({ pid }) => ({ pid, name: "node", private: MIB })),
    };
    const curve = [300, 400, 700].map((mib, i) => ({ at: i * 2000, private: mib * MIB }));
    this.pool = new WorkerPool(
      {
        workers,
        commandLine: (id) => [WORKER, own, String(id)],
        token: "token",
        env: process.env,
        logDirectory: join(directory, name),
        session: name,
        names: new Map(),
      },
      {
        starting: () => {},
        ready: (worker) => {
          this.ready.add(worker);
          this.#onChange();
        },
        gone: (worker, end) => {
          this.ready.delete(worker);
          this.ends.push(end);
          this.#onChange();
        },
        unavailable: (error, until) => this.errors.push({ error, until }),
        changed: () => {},
      },
      new Witness(gauge, 0.95, () => curve, this.clock),
      this.clock,
    );
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
  }

  /** Ends a worker as the ladder does, and comes back when it is gone. */
  async endForMemory(): Promise<void> {
    const [worker] = this.ready;
    if (worker === undefined) throw new Error("no worker is up");
    const ends = this.ends.length;
    this.pool.kill(worker, "terminate");
    await this.until(() => this.ends.length > ends);
    // What follows a death follows in the same turn.
    await Promise.resolve();
  }

  async close(): Promise<void> {
    await this.pool.close();
    this.#server.close();
    await once(this.#server, "close");
  }
}

const pools: TestPool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});

function started(name: string, workers: number): TestPool {
  const pool = new TestPool(name, workers);
  pools.push(pool);
  pool.pool.start();
  return pool;
}

test("[K7] a fresh worker starts after 1 to 16 s, five in a row at most; then who waits is told, and new work starts one", async () => {
  const test = started("five", 1);
  const { pool, clock, ready, errors } = test;
  for (const pause of [1000, 2000, 4000, 8000, 16_000]) {
    await test.until(() => ready.size === 1);
    await test.endForMemory();
    expect(pool.workers).toEqual([]);
    expect(clock.pauses).toEqual([pause]);
    clock.pass(pause);
    expect(pool.workers.length).toBe(1);
  }
  await test.until(() => ready.size === 1);
  expect(errors).toEqual([]);
  await test.endForMemory();
  expect([pool.workers, clock.pauses]).toEqual([[], []]);
  expect(errors.map(({ until }) => until)).toEqual(["work"]);
  expect(errors[0]?.error).toMatchObject({
    name: "OutOfMemoryError",
    reason: "terminate",
    attempts: 6,
    memory: 700 * MIB,
  });
  expect(errors[0]?.error.message).toContain("300 MiB → 400 MiB → 700 MiB in the last 4.0 s");
  pool.workComes();
  expect(pool.workers.length).toBe(1);
  await test.until(() => ready.size === 1);
});

test("[K7] a task that is done begins the row anew; a crash is replaced at once, and others go on meanwhile", async () => {
  const test = started("anew", 2);
  const { pool, clock, ready } = test;
  await test.until(() => ready.size === 2);
  await test.endForMemory();
  expect(pool.workers.length).toBe(1);
  const [crashing] = pool.workers;
  process.kill(crashing?.pid ?? 0, "SIGSEGV");
  await test.until(() => test.ends.length === 2);
  await test.until(() => ready.size === 1);
  expect(clock.pauses).toEqual([1000]);
  clock.pass(1000);
  await test.until(() => ready.size === 2);
  pool.taskDone();
  await test.endForMemory();
  expect(clock.pauses).toEqual([1000]);
});

test("[K7] a replacement that waits is none that somebody misses who wants fewer", async () => {
  const test = started("fewer", 2);
  const { pool, clock, ready, ends } = test;
  await test.until(() => ready.size === 2);
  await test.endForMemory();
  const [last] = ready;
  pool.want(1);
  pool.dismiss(last as WorkerId);
  await test.until(() => ends.length === 2);
  await test.until(() => ready.size === 1);
  expect([pool.workers.length, clock.pauses]).toEqual([1, [1000]]);
});

test("[K7] where one of two is given up, the other is replaced, and none is missed while none is wanted", async () => {
  const test = started("other", 2);
  const { pool, clock, ready, ends, errors } = test;
  await test.until(() => ready.size === 2);
  const [other] = ready;
  for (let deaths = 1; deaths <= 6; deaths++) {
    const newest = Math.max(...ready) as WorkerId;
    pool.kill(newest, "monitor");
    await test.until(() => ends.length === deaths);
    await Promise.resolve();
    clock.pass(16_000);
    await test.until(() => ready.size === (deaths < 6 ? 2 : 1));
  }
  expect([...ready]).toEqual([other]);
  pool.dismiss(other as WorkerId);
  await test.until(() => ends.length === 7 && ready.size === 1);
  const [next] = ready;
  pool.want(0);
  pool.dismiss(next as WorkerId);
  await test.until(() => ends.length === 8);
  await Promise.resolve();
  expect([pool.workers, errors]).toEqual([[], []]);
  pool.want(2);
  await test.until(() => ready.size === 1);
  expect([pool.workers.length, errors]).toEqual([1, []]);
});

test("[D4] who was ended from here is told with the reason, and with the node as it was before", async () => {
  const test = started("asked", 3);
  const { pool, ready, ends } = test;
  await test.until(() => ready.size === 3);
  const [first, second, third] = [...ready] as [WorkerId, WorkerId, WorkerId];
  pool.kill(first, "monitor");
  await test.until(() => ends.length === 1);
  expect(ends[0]).toMatchObject({ cause: "monitor", signal: "SIGKILL", node: { used: 960 * MIB, threshold: 0.95 } });
  expect(ends[0]?.node?.users.map(({ name }) => name)).toContain(`worker ${first}`);
  pool.terminate(second);
  await test.until(() => ends.length === 2);
  expect(ends[1]).toMatchObject({ cause: "terminate", signal: "SIGTERM" });
  pool.dismiss(third);
  await test.until(() => ends.length === 3);
  expect(ends[2]).toMatchObject({ cause: "asked", exitCode: 0, node: null });
  // One that was dismissed is replaced at once, the others have to wait.
  await test.until(() => ready.size === 1);
});
