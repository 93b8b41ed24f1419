/**
 * The load of a server: a small group query over many Parquet files in a running session, compared with DuckDB alone:
 * `npm run build && npx tsx bench/micro/server-load.ts`. One query after another (the median, in milliseconds), and ten
 * at once (queries a second), in turns, so that both see the same machine.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { col, count, session } from "spillway";
import { openDatabase } from "../programs/duckdb.ts";

const FILES = 70;
const ROWS_A_FILE = 2000;
const RUNS = 15;
const AT_ONCE = 10;
const ROUNDS = 3;

const directory = mkdtempSync(join(tmpdir(), "server-load-"));
const files = join(directory, "files");
mkdirSync(files);
const database = await openDatabase(availableParallelism());
for (let i = 0; i < FILES; i++) {
  await database.execute(
    `COPY (SELECT range AS id, range % 10 AS k, random() AS x FROM range(${ROWS_A_FILE})) TO '${join(files, `${i}.parquet`)}' (FORMAT parquet)`,
  );
}
const s = session({ progress: false });

const queries = {
  spillway: async () => {
    const groups = s
      .readParquet(files)
      .groupBy("k")
      .agg({ n: count(), total: col("x").sum() });
    return (await groups.takeAll()).length;
  },
  DuckDB: async () =>
    (await database.rows(`SELECT k, count(*) AS n, sum(x) AS total FROM read_parquet('${files}/*.parquet') GROUP BY k`))
      .length,
};

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const middle = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

for (const run of Object.values(queries)) for (let i = 0; i < 5; i++) await run();
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, run] of Object.entries(queries)) {
    const alone: number[] = [];
    for (let i = 0; i < RUNS; i++) alone.push(await milliseconds(run));
    const together = await milliseconds(() => Promise.all(Array.from({ length: 3 * AT_ONCE }, run)));
    const rate = (3 * AT_ONCE * 1000) / together;
    console.log(
      `${name.padEnd(9)} ${middle(alone).toFixed(0).padStart(5)} ms alone ${rate.toFixed(1).padStart(6)} a second`,
    );
  }
}
await s.close();
database.close();
rmSync(directory, { recursive: true });
