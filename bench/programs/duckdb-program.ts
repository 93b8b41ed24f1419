/**
 * The frame of DuckDB's programs, as program.ts is that of ours: the work is done once on a thousand rows, and then
 * with the clock running. In a box, DuckDB is told to spill before the box is full, on the same disk as the other
 * engines.
 */
import { dirname, join } from "node:path";
import { duckdbLimit } from "../box-limits.ts";
import type { Answer, Assignment, Job } from "../workload.ts";
import { type Database, openDatabase } from "./duckdb.ts";
import { report } from "./program-report.ts";

export type DuckdbWork = (database: Database, job: Job) => Promise<Answer>;

export const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;
export const table = (files: readonly string[]): string => `read_parquet([${files.map(text).join(", ")}])`;

/** `answer` is given if the answer is only known by doing the work again; it is not timed. */
export async function timedDuckdb(work: DuckdbWork, answer?: DuckdbWork): Promise<void> {
  const assignment: Assignment = JSON.parse(process.argv.at(-1) ?? "{}");
  const begin = performance.now();
  const database = await openDatabase(assignment.cores, settingsIn(assignment));
  await work(database, assignment.warmUp);
  const warm = performance.now();
  const found = await work(database, assignment.job);
  const seconds = (performance.now() - warm) / 1000;
  const checked = answer === undefined ? found : await answer(database, assignment.job);
  report({ startup: (warm - begin) / 1000, seconds, answer: checked });
  database.close();
}

function settingsIn({ box, job }: Assignment): string[] {
  const spilling = `temp_directory = ${text(join(dirname(job.written), "duckdb-spill"))}`;
  return box === null
    ? [spilling]
    : [spilling, `memory_limit = '${duckdbLimit(box)}B'`, "preserve_insertion_order = false"];
}
