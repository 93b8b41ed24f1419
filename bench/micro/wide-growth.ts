/**
 * How the time of wide tables grows with their columns: what takes time for each column squared stands out. `npm run
 * build && npx tsx bench/micro/wide-growth.ts [rows]` prints milliseconds for each job and number of columns, and how
 * much more a column costs than one of the table before (1: the cost is by column).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { col, type Dataset, session, sql } from "spillway";

const COLUMNS = [500, 1_000, 2_000, 5_000];
const rows = Number(process.argv[2] ?? 500);

const directory = mkdtempSync(join(tmpdir(), "wide-growth-"));
const s = session({ progress: false, dashboard: false });

/** Runs through all rows in batches that fit a program of little memory. */
async function through(dataset: Dataset): Promise<void> {
  for await (const _ of dataset.iterBatches({ batchSize: 256 }));
}

try {
  await s
    .range(1)
    .map((row) => row)
    .takeAll();
  const before = new Map<string, { readonly columns: number; readonly ms: number }>();
  for (const columns of COLUMNS) {
    const place = (name: string) => join(directory, `${name}-${columns}`);
    const names = Array.from({ length: columns }, (_, i) => `c${i}`);
    const made = s.range(rows).select(...names.map((name, i) => sql(`(id * ${i + 1}) % 1009`).as(name)));
    const wide = () => s.readParquet(place("parquet"));
    const jobs: Readonly<Record<string, () => Promise<unknown>>> = {
      "made, to Parquet": () => made.writeParquet(place("parquet")),
      "read, all columns": () => through(wide()),
      "map over all columns": () =>
        wide()
          .map((row) => ({ n: Object.keys(row).length }))
          .takeAll(),
      "sum of one": () => wide().sum("c77"),
      "filter, all columns": () => through(wide().filter(col("c3").lt(100))),
      "select half": () => through(wide().select(...names.filter((_, i) => i % 2 === 0))),
      "sort, one column": () =>
        wide()
          .sort("c1")
          .map((row) => ({ c: row.c1 }))
          .takeAll(),
      "Parquet to Parquet": () => wide().writeParquet(place("copy")),
      "Parquet to CSV": () => wide().writeCsv(place("csv")),
    };
    for (const [job, run] of Object.entries(jobs)) {
      const start = performance.now();
      await run();
      const ms = performance.now() - start;
      const last = before.get(job);
      const growth = last === undefined ? "" : `× ${(ms / columns / (last.ms / last.columns)).toFixed(2)}`;
      console.log(`${job.padEnd(24)} ${String(columns).padStart(6)} ${ms.toFixed(0).padStart(8)} ms  ${growth}`);
      before.set(job, { columns, ms });
    }
  }
} finally {
  await s.close();
  rmSync(directory, { recursive: true });
}
