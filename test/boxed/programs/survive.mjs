// Work that memory is too small for. Prints the answer, or the error that came, and what the session still does after
// it. argv: directory, job, rows and bytes of each (write, sort, join).
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { col, count, session, sql } from "spillway";

const [directory, job] = process.argv.slice(2);
const [rows, bytes] = process.argv.slice(4).map(Number);
const s = session({ progress: false, preserveOrder: true, ...(job === "together" ? { workers: 8 } : {}) });

/** Rows in so many tasks, a batch each, through the function; what comes out is summed. */
async function total(rows, tasks, of) {
  const applied = s
    .range(rows, { overrideNumBlocks: tasks })
    .mapBatches((batch) => ({ id: of(batch.id) }), { batchSize: rows / tasks });
  return Number((await applied.agg({ sum: col("id").sum() })).sum);
}

const batches = (tasks) =>
  total(4 * tasks, tasks, (ids) => {
    const made = Buffer.alloc(300_000_000, 1);
    return Array.from(ids, (id) => id * made.at(-1));
  });

/** Rows of so many bytes in Parquet files, written by the kernel alone. */
async function made() {
  const path = join(directory, "data");
  await s
    .range(rows, { overrideNumBlocks: 16 })
    .withColumn("key", sql(`(id * 7919) % ${rows / 2}`))
    .withColumn("text", sql(`rpad('row ' || id || ' ', ${bytes - 24}, 'spillway ')`))
    .writeParquet(path);
  return s.readParquet(path);
}

const WORK = {
  batches: () => batches(6),
  leak: () =>
    total(1_500, 150, (ids) => {
      globalThis.kept ??= [];
      for (const _ of ids) globalThis.kept.push(Buffer.alloc(1_000_000, 1));
      return Array.from(ids);
    }),
  explode: () =>
    s
      .range(100, { overrideNumBlocks: 4 })
      .flatMap((row) =>
        Array.from({ length: row.id === 50 ? 2_000_000 : 1 }, (_, n) => ({
          text: Buffer.from(`${row.id}.${n}`.padEnd(1000)).toString("latin1"),
        })),
      )
      .agg({ n: count().where(col("text").ne("")) }),
  together: () =>
    total(16, 8, (ids) => {
      const made = Buffer.alloc(200_000_000, 1);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      return Array.from(ids, (id) => id * made.at(-1));
    }),
  buffers: () =>
    total(2, 2, () => {
      const kept = [];
      for (;;) kept.push(Buffer.alloc(16_000_000, 1));
    }),
  objects: () =>
    total(2, 2, () => {
      const kept = [];
      for (;;) kept.push({ number: kept.length, text: String(kept.length) });
    }),
  child: () =>
    total(2, 2, (ids) => {
      // It goes on where the limit that it inherits refuses it memory: ending by itself would be the function's error.
      const fill = "const kept = []; for (;;) { try { kept.push(Buffer.alloc(16_000_000, 1)); } catch {} }";
      const { status, signal } = spawnSync(process.execPath, ["-e", fill], { stdio: "ignore" });
      if (status !== 0) throw new Error(`The child process ended with ${signal ?? `code ${status}`}.`);
      return Array.from(ids);
    }),
  two: () =>
    Promise.all([batches(4), total(500_000, 20, (ids) => Array.from(ids, (id) => String(id).padEnd(1000).length))]),
  write: async () => (await made()).count(),
  async sort() {
    const path = join(directory, "sorted");
    const { rows: written } = await (await made()).sort(["key", "id"], { descending: true }).writeParquet(path);
    let [seen, misplaced, last] = [0, 0, Number.POSITIVE_INFINITY];
    for await (const { key } of s.readParquet(path).select("key").iterBatches({ batchSize: 65_536 })) {
      for (const one of key) {
        if (one > last) misplaced += 1;
        last = one;
        seen += 1;
      }
    }
    return { written, seen, misplaced };
  },
  async join() {
    const data = await made();
    const left = data.where(col("id").lt(rows / 2)).select("id", "text");
    const right = data.where(col("id").ge(rows / 2)).select("key", col("text").as("other"));
    return left
      .join(right, { leftOn: "id", rightOn: "key" })
      .agg({ n: count(), ids: col("id").sum(), equal: count().where(col("text").eq(col("other"))) });
  },
};

const outcome = await WORK[job]().then(
  (answer) => ({ answer }),
  (error) => ({ error: error.name, message: error.message }),
);
const after = await s
  .range(10)
  .map((row) => ({ twice: 2 * row.id }))
  .count();
console.log(JSON.stringify({ ...outcome, after }));
await s.close();
