/** The pool with real processes. */
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
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
  readonly ready = new Set<WorkerId>();
  /** Otherwise connections wait in `late`. */
  admits = true;
  readonly late: (() => boolean)[] = [];
  readonly pool: WorkerPool;
  readonly #server: Server;
  #onChange = () => {};

  constructor(name: string) {
    const own = mkdtempSync(join(directory, "session-"));
    this.#server = createServer((connection) => {
      const wire = new Wire<WorkerMessage, ToWorker>(connection);
      wire.onMessage((message) => {
        if (message.type !== "ready") return;
        const connect = () => this.pool.connect(message.worker, message.pid, wire);
        if (this.admits) connect();
        else this.late.push(connect);
        this.#onChange();
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
        commandLine: (id) => [WORKER, own, String(id)],
        token: "token",
        env: process.env,
        logDirectory: join(directory, name),
        session: name,
        names: new Map(),
        dashboard: () => [],
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
        changed: () => {},
      },
      new Witness(gauge, 0.95, () => curve, this.clock),
    );
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
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
  const pool = new TestPool(name);
  pools.push(pool);
  for (let i = 0; i < workers; i++) pool.pool.spawn();
  return pool;
}

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
  // Others are started when the scheduler says so.
  expect(pool.workers).toEqual([]);
  pool.spawn();
  await test.until(() => ready.size === 1);
});

test("[K7] a worker that is killed because it has not connected is told so, and is not let in any more", async () => {
  const test = started("hanging", 1);
  const { pool, ends, late } = test;
  test.admits = false;
  await test.until(() => late.length === 1);
  pool.kill(1 as WorkerId, "neverConnected");
  expect(late[0]?.()).toBe(false);
  await test.until(() => ends.length === 1);
  expect(ends[0]).toMatchObject({ cause: "signal", signal: "SIGKILL", connection: "never" });
});
