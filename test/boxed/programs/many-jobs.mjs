// Short jobs of several kinds, one after the other in one session; twenty times a look at every process, as JSON.
// Needs --expose-gc: what matters is what is left after a collection. argv: directory, jobs.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { session } from "spillway";

const [directory, jobs] = [process.argv[2], Number(process.argv[3])];
const SAMPLES = 20;
const WORKERS = 2;

const s = session({
  progress: false,
  workers: WORKERS,
  objectStoreMemory: "256 MiB",
  localDirectory: process.env.TMPDIR,
  workerExecArgv: ["--expose-gc"],
});

const KINDS = [
  () =>
    s
      .range(10)
      .map((row) => ({ double: row.id * 2 }))
      .takeAll(),
  () => s.range(100).count(),
  () =>
    s
      .fromItems([{ a: 1 }, { a: 2 }])
      .mapBatches((batch) => ({ b: batch.a }))
      .takeAll(),
  async () => {
    for await (const row of s.range(10).iterRows()) if (row.id >= 0) break;
  },
  () => s.range(10).writeParquet(join(directory, "out"), { mode: "overwrite" }),
  () =>
    s
      .range(10)
      .map(() => {
        throw new Error("on purpose");
      })
      .takeAll()
      .catch(() => undefined),
];

/** A worker's heap after a collection, by its pid; several tasks, so that each worker has one. */
async function liveHeaps() {
  const rows = await s
    .range(2 * WORKERS, { overrideNumBlocks: 2 * WORKERS })
    .map(() => {
      // Compiled code of the jobs before goes only when it has been through several.
      for (let times = 0; times < 6; times++) globalThis.gc();
      return { pid: process.pid, live: process.memoryUsage().heapUsed };
    })
    .takeAll();
  return new Map(rows.map(({ pid, live }) => [pid, live]));
}

function ofProcess(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "latin1");
  const anonymous = Number(/^Anonymous:\s+(\d+) kB/m.exec(rollup)?.[1]) * 1024;
  return { anonymous, descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

function supervisorPid() {
  return readdirSync("/proc").find((pid) => {
    try {
      const line = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, "latin1") : "";
      return line.includes("supervisor/main.js") && line.includes(`-${process.pid}-`);
    } catch {
      return false; // it ended between the listing and the look
    }
  });
}

async function sample(done) {
  const live = await liveHeaps();
  globalThis.gc();
  // What was collected is let go of in the store by finalizers, which come after.
  await new Promise((resolve) => setImmediate(resolve));
  const arena = readdirSync("/dev/shm").find((name) => name.includes(`-${process.pid}-`));
  return {
    jobs: done,
    program: { ...ofProcess(process.pid), live: process.memoryUsage().heapUsed },
    supervisor: ofProcess(supervisorPid()),
    workers: [...live].sort().map(([pid, heap]) => ({ ...ofProcess(pid), live: heap })),
    shared: arena === undefined ? 0 : statSync(join("/dev/shm", arena)).blocks * 512,
    files: readdirSync(process.env.TMPDIR, { recursive: true }).length,
  };
}

const samples = [];
const started = performance.now();
for (let done = 1; done <= jobs; done++) {
  await KINDS[done % KINDS.length]();
  if (done % Math.floor(jobs / SAMPLES) === 0) samples.push(await sample(done));
}
console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000, samples }));
await s.close();
