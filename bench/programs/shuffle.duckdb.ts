/** DuckDB alone: four columns in a random order, which for DuckDB is a sort by random numbers. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { table, text, timedDuckdb } from "./duckdb-program.ts";

await timedDuckdb(async (database, job) => {
  await mkdir(job.written, { recursive: true });
  await database.execute("SET GLOBAL preserve_insertion_order = true");
  await database.execute(`
    COPY (
      SELECT l_orderkey, l_partkey, l_shipdate, l_extendedprice
      FROM ${table(job.files.lineitem)}
      ORDER BY random()
    ) TO ${text(join(job.written, "shuffled.parquet"))} (FORMAT parquet, COMPRESSION snappy)`);
  return {};
});
