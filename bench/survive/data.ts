/**
 * Rows of a kibibyte for the sort and the join. `id` counts; `key` contains every number below half of the rows once in
 * each half of the rows; `text` fills the row. Files are small, because the text repeats itself; in memory engines hold
 * it in full.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { places } from "../places.ts";

/** Files; the first half of them is the left side of the join. */
const PARTS = 20;
/** Has no common divisor with half of the rows. */
const PRIME = 7919;

export async function surviveFiles(rows: number, say: (text: string) => void): Promise<string[]> {
  const directory = join(places.data, "survive", String(rows));
  await mkdir(directory, { recursive: true });
  const parts = Array.from({ length: PARTS }, (_, part) => ({
    path: join(directory, `part-${String(part).padStart(2, "0")}.parquet`),
    sql: rowsSql((part * rows) / PARTS, ((part + 1) * rows) / PARTS, rows),
  }));
  const missing = parts.filter(({ path }) => !existsSync(path)).flatMap(({ path, sql }) => [path, sql]);
  if (missing.length > 0) {
    say(`Making the rows that are sorted and joined in ${directory.slice(places.project.length)} (once).`);
    await promisify(execFile)(process.execPath, [join(places.programs, "survive-data.js"), ...missing]);
  }
  return parts.map(({ path }) => path);
}

function rowsSql(from: number, to: number, rows: number): string {
  return `
    SELECT range AS id, (range * ${PRIME}) % ${rows / 2} AS key, rpad('row ' || range || ' ', 1000, 'spillway ') AS text
    FROM range(${from}, ${to})`;
}
