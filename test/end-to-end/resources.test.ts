/** What functions ask for and what sessions allow, with real workers. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OptionError, type Session } from "spillway";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("resources");
const gate = join(sessions.directory, "gate");

/** When the function ran, task by task. */
async function times(s: Session, numCpus: number): Promise<{ pid: number; from: number; to: number }[]> {
  const rows = await s
    .range(4, { overrideNumBlocks: 4 })
    .map(
      (row) => {
        // The one clock that all processes have in common.
        const now = () => Number(process.hrtime.bigint()) / 1e6;
        const from = now();
        while (now() < from + 60) {
          // Computes.
        }
        return { id: row.id, pid: process.pid, from, to: now() };
      },
      { numCpus },
    )
    .takeAll();
  return rows.sort((a, b) => a.from - b.from);
}

test("[O5] numCpus: 2 on two cores is one task at a time; numCpus: 0 is allowed", async () => {
  const s = sessions.open({ workers: 2 });
  const alone = await times(s, 2);
  for (const [i, row] of alone.entries()) expect(row.from).toBeGreaterThanOrEqual(alone[i - 1]?.to ?? 0);
  expect((await times(s, 0)).length).toBe(4);
  await s.close();
});

test("[O5] a function that asks for more memory than a worker has gets a worker that has it", async () => {
  // Without the ladder, whose look might come before the heap is full.
  const memory = { pause: false, terminate: false } as const;
  const s = sessions.open({ workers: 2, memoryLimit: "96 MiB", maxOomRetries: 0, worker: { memory } });
  const fill = (row: { id: number }) => {
    const kept: number[][] = [];
    for (let i = 0; i < 160; i++) kept.push(new Array<number>(131_072).fill(i + 0.5));
    return { id: row.id, mebibytes: kept.length, pid: process.pid };
  };
  await expect(s.range(1).map(fill).takeAll()).rejects.toThrow(
    /heap limit of 72.0 MiB.*memory: "192 MiB" on map\(fill\)/s,
  );
  const rows = await s.range(3, { overrideNumBlocks: 3 }).map(fill, { memory: "512 MiB" }).takeAll();
  expect(rows.map(({ mebibytes }) => mebibytes)).toEqual([160, 160, 160]);
  // Afterwards all workers are as before.
  await expect(s.range(1).map(fill).takeAll()).rejects.toThrow(/heap limit of 72.0 MiB/);
  await s.close();
});

test("[O5] what can never be had is an error before anything runs", async () => {
  const s = sessions.open({ workers: 2, resourceLimits: { memory: "1 GiB" } });
  const double = ({ id }: { id: number }) => ({ id });
  await expect(s.range(1).map(double, { numCpus: 3 }).takeAll()).rejects.toThrow(
    "map(double): a task needs numCpus 3, but the session has 2 in total. Lower numCpus, or give the session more workers",
  );
  await expect(s.range(1).map(double, { memory: "2 GiB" }).takeAll()).rejects.toThrow(
    "the session has 1.0 GiB in total",
  );
  await expect(s.range(1).map(double, { numGpus: 64 }).takeAll()).rejects.toBeInstanceOf(OptionError);
  for (const bad of [
    { numCpus: -1 },
    { numGpus: 1.5 },
    { memory: "much" },
    { numCpus: Number.NaN },
    { batchSize: 0 },
  ]) {
    expect(() => s.range(1).map(double, bad), JSON.stringify(bad)).toThrow(OptionError);
  }
  await s.close();
});

test("[O6] resourceLimits bound what tasks and the store have; resources() says what there is", async () => {
  const s = sessions.open({
    workers: 2,
    objectStoreMemory: "256 MiB",
    resourceLimits: { cpu: 1, gpu: 3, memory: "2 GiB", objectStoreMemory: "64 MiB" },
  });
  const { total, used, workers } = await s.resources();
  expect(total).toEqual({ cpu: 1, gpu: 3, memory: 2 ** 31, objectStoreMemory: 64 * 2 ** 20 });
  expect(used).toEqual({ cpu: 0, gpu: 0, memory: 0, objectStoreMemory: 0 });
  expect(workers.length).toBeGreaterThan(0);
  expect(workers.every(({ task, managed }) => task === null && managed === 0)).toBe(true);
  // One core for two workers: one task at a time.
  const alone = await times(s, 1);
  for (const [i, row] of alone.entries()) expect(row.from).toBeGreaterThanOrEqual(alone[i - 1]?.to ?? 0);
  await s.close();
});

test("[O6] resources() says what is in use, and who uses it", async () => {
  const s = sessions.open({ workers: 1 });
  const rows = s
    .range(2, { overrideNumBlocks: 2 })
    .map(
      async function wait(row) {
        while (!existsSync(gate)) await new Promise((resolve) => setTimeout(resolve, 5));
        return row;
      },
      { numCpus: 0.5, memory: "100 MiB" },
    )
    .takeAll();
  for (;;) {
    const { used, workers } = await s.resources();
    if (!workers.some(({ task }) => task?.endsWith("map") === true)) continue;
    expect(used).toMatchObject({ cpu: 0.5, memory: 100 * 2 ** 20 });
    // The function lies in the store.
    expect(used.objectStoreMemory).toBeGreaterThan(0);
    expect(workers).toMatchObject([{ state: "busy" }]);
    break;
  }
  writeFileSync(gate, "");
  expect((await rows).length).toBe(2);
  const { used, workers } = await s.resources();
  expect(used).toMatchObject({ cpu: 0, gpu: 0, memory: 0 });
  expect(workers).toMatchObject([{ state: "idle", task: null }]);
  expect(workers[0]?.pid).toBeGreaterThan(0);
  await s.close();
});

test("[O6] a worker that is starting has no pid yet", async () => {
  const s = sessions.open({ workers: 1, workerExecArgv: ["--import", delayed()] });
  const { workers } = await s.resources();
  expect(workers).toMatchObject([{ state: "starting", pid: null }]);
  writeFileSync(`${gate}-start`, "");
  await s.close();
});

/** A module that keeps a worker from starting before the test says so. */
function delayed(): string {
  const path = join(sessions.directory, "delayed.mjs");
  const wait = `while (!existsSync(${JSON.stringify(`${gate}-start`)})) await new Promise((go) => setTimeout(go, 5));`;
  writeFileSync(path, `import { existsSync } from "node:fs";\n${wait}\n`);
  return path;
}

test("[O6] resourceLimits are checked", () => {
  const refused = (resourceLimits: object) =>
    expect(() => sessions.open({ resourceLimits }), JSON.stringify(resourceLimits));
  refused({ cpus: 1 }).toThrow('there is no option "resourceLimits.cpus". Did you mean "resourceLimits.cpu"?');
  refused({ cpu: 0 }).toThrow('must be a number of cores, at least 1, or a share such as "80%", not 0');
  refused({ cpu: "200%" }).toThrow(OptionError);
  refused({ gpu: 0.5 }).toThrow("a whole number of GPUs");
  refused({ memory: "much" }).toThrow("resourceLimits.memory");
  refused({ objectStoreMemory: "1 KiB" }).toThrow("too small for 2 workers");
  sessions.open({ resourceLimits: { cpu: "50%", memory: "50%" } });
});

class Device {
  readonly atStart = process.env.CUDA_VISIBLE_DEVICES ?? "unset";

  async call(batch: { id: ArrayLike<number> }) {
    // Both instances are there before either goes on.
    writeFileSync(`${gate}-device-${this.atStart}`, "");
    while (!existsSync(`${gate}-device-0`) || !existsSync(`${gate}-device-1`)) {
      await new Promise((go) => setTimeout(go, 5));
    }
    const now = process.env.CUDA_VISIBLE_DEVICES ?? "unset";
    return { device: Array.from(batch.id, () => this.atStart), now: Array.from(batch.id, () => now) };
  }
}

test("[O9] each class instance has a CUDA_VISIBLE_DEVICES of its own; who asks for none sees none", async () => {
  const s = sessions.open({ workers: 2, resourceLimits: { gpu: 2 } });
  const rows = await s.range(4, { overrideNumBlocks: 4 }).mapBatches(Device, { numGpus: 1, batchSize: 1 }).takeAll();
  expect(rows.length).toBe(4);
  expect(new Set(rows.map(({ device }) => device))).toEqual(new Set(["0", "1"]));
  expect(rows.every(({ device, now }) => device === now)).toBe(true);
  const seen = () => ({ seen: process.env.CUDA_VISIBLE_DEVICES ?? "unset" });
  expect(await s.range(1).map(seen).takeAll()).toEqual([{ seen: "" }]);
  expect(await s.range(1).map(seen, { numGpus: 2 }).takeAll()).toEqual([{ seen: "0,1" }]);
  expect((await s.range(1).map(seen, { numGpus: 0.5 }).takeAll())[0]?.seen).toMatch(/^[01]$/);
  expect((await s.resources()).used.gpu).toBe(0);
  await s.close();
});
