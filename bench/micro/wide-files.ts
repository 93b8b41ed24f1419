/**
 * Files with very many columns and few rows, where nearly all of the time is planning. `npm run build && npx tsx
 * bench/micro/wide-files.ts [columns]` prints seconds: all rows of a CSV file, through a function too, written as
 * Parquet, and the same of that Parquet file.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { session } from "spillway";

const columns = Number(process.argv[2] ?? 1_000);
const ROWS = 20;

const directory = mkdtempSync(join(tmpdir(), "wide-files-"));
const s = session({ progress: false, dashboard: false });
try {
  const csv = join(directory, "wide.csv");
  const parquet = join(directory, "wide");
  const line = (cell: (column: number) => string) => Array.from({ length: columns }, (_, i) => cell(i)).join(",");
  const rows = Array.from({ length: ROWS }, (_, row) => line((i) => (i % 3 === 0 ? `text ${row}` : String(row * i))));
  writeFileSync(csv, `${[line((i) => `c${i}`), ...rows].join("\n")}\n`);
  await s
    .range(1)
    .map((row) => row)
    .takeAll();
  const works: Readonly<Record<string, () => Promise<unknown>>> = {
    "CSV, all rows": () => s.readCsv(csv).takeAll(),
    "CSV, through a function": () =>
      s
        .readCsv(csv)
        .map((row) => ({ ...row, more: 1 }))
        .takeAll(),
    "CSV to Parquet": () => s.readCsv(csv).writeParquet(parquet),
    "Parquet, all rows": () => s.readParquet(parquet).takeAll(),
    "Parquet, through a function": () =>
      s
        .readParquet(parquet)
        .map((row) => ({ ...row, more: 1 }))
        .takeAll(),
  };
  for (const [what, work] of Object.entries(works)) {
    const start = performance.now();
    await work();
    console.log(`${what.padEnd(28)} ${((performance.now() - start) / 1000).toFixed(2)} s`);
  }
} finally {
  await s.close();
  rmSync(directory, { recursive: true });
}
