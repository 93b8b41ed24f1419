/** Ours: the jobs that memory is too small for. survive/jobs.ts describes each job, and how it must end. */
import { spawnSync } from "node:child_process";
import { col, count, type Session, session } from "spillway";
import type { SurviveAssignment } from "../survive/jobs.ts";
import type { Answer } from "../workload.ts";
import { report } from "./program-report.ts";

type Ids = Iterable<number>;

/** Rows in this many tasks, one batch each, through the function; the results are summed. */
async function total(s: Session, rows: number, tasks: number, of: (ids: Ids) => number[]): Promise<number> {
  const { sum } = await s
    .range(rows, { overrideNumBlocks: tasks })
    .mapBatches((batch) => ({ id: of(batch.id) }), { batchSize: rows / tasks })
    .agg({ sum: col("id").sum() });
  return Number(sum);
}

const batches = (s: Session) =>
  total(s, 64, 16, (ids) => {
    const made = Buffer.alloc(300_000_000, 1);
    return Array.from(ids, (id) => id * (made.at(-1) ?? 0));
  });

const texts = (s: Session) => total(s, 2_000_000, 40, (ids) => Array.from(ids, (id) => String(id).padEnd(1000).length));

const WORK: Readonly<Record<string, (s: Session, job: SurviveAssignment) => Promise<Answer>>> = {
  batches: async (s) => ({ sum: await batches(s) }),
  leak: async (s) => ({
    sum: await total(s, 3_000, 300, (ids) => {
      const worker = globalThis as { kept?: Buffer[] };
      worker.kept ??= [];
      for (const _ of ids) worker.kept.push(Buffer.alloc(1_000_000, 1));
      return Array.from(ids);
    }),
  }),
  explode: async (s) => {
    const rows = await s
      .range(1_000, { overrideNumBlocks: 10 })
      .flatMap((row) =>
        Array.from({ length: row.id === 500 ? 2_000_000 : 1 }, (_, n) => ({
          text: Buffer.from(`${row.id}.${n}`.padEnd(1000)).toString("latin1"),
        })),
      )
      .agg({ n: count().where(col("text").ne("")) });
    return { rows: Number(rows.n) };
  },
  together: async (s) => ({
    sum: await total(s, 32, 16, (ids) => {
      const made = Buffer.alloc(200_000_000, 1);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      return Array.from(ids, (id) => id * (made.at(-1) ?? 0));
    }),
  }),
  buffers: async (s) => ({
    sum: await total(s, 8, 4, () => {
      const kept: Buffer[] = [];
      for (;;) kept.push(Buffer.alloc(16_000_000, 1));
    }),
  }),
  objects: async (s) => ({
    sum: await total(s, 8, 4, () => {
      const kept: { number: number; text: string }[] = [];
      for (;;) kept.push({ number: kept.length, text: String(kept.length) });
    }),
  }),
  child: async (s) => ({
    sum: await total(s, 8, 4, (ids) => {
      const fill = "const kept = []; for (;;) kept.push(Buffer.alloc(16_000_000, 1));";
      const { status, signal } = spawnSync(process.execPath, ["-e", fill], { stdio: "ignore" });
      if (status !== 0) throw new Error(`The child process ended with ${signal ?? `code ${status}`}.`);
      return Array.from(ids);
    }),
  }),
  two: async (s) => {
    const [first, second] = await Promise.all([batches(s), texts(s)]);
    return { batches: first, texts: second };
  },
  sort: async (s, { files, written }) => {
    await s
      .readParquet([...files])
      .sort(["key", "id"])
      .writeParquet(written);
    return {};
  },
  join: async (s, { files }) => {
    const middle = files.length / 2;
    const other = s.readParquet(files.slice(middle)).select("key", col("text").as("other"));
    const joined = s
      .readParquet(files.slice(0, middle))
      .select("id", "text")
      .join(other, { leftOn: "id", rightOn: "key" });
    const { rows, ids, equal } = await joined.agg({
      rows: count(),
      ids: col("id").sum(),
      equal: count().where(col("text").eq(col("other"))),
    });
    return { rows: Number(rows), ids: Number(ids), equal: Number(equal) };
  },
};

const job: SurviveAssignment = JSON.parse(process.argv.at(-1) ?? "{}");
const begin = performance.now();
const s = session({ workers: job.workers, progress: false });
const answer = await (WORK[job.name]?.(s, job) ?? Promise.reject(new Error(`no job ${job.name}`))).catch(
  (error: Error): Answer => ({ error: error.name, message: error.message.split("\n")[0] }),
);
await s.close();
report({ startup: 0, seconds: (performance.now() - begin) / 1000, answer });
