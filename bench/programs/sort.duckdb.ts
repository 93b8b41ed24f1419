/**
 * DuckDB alone: four columns in the order of two, written. To one file, because a file per thread would not keep the
 * order.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { table, text, timedDuckdb } from "./duckdb-program.ts";

await timedDuckdb(async (database, job) => {
  await mkdir(job.written, { recursive: true });
  // Here the order must be kept. Other programs allow any order.
  await database.execute("SET GLOBAL preserve_insertion_order = true");
  await database.execute(`
    COPY (
      SELECT l_orderkey, l_partkey, l_shipdate, l_extendedprice
      FROM ${table(job.files.lineitem)}
      ORDER BY l_shipdate, l_partkey
    ) TO ${text(join(job.written, "sorted.parquet"))} (FORMAT parquet, COMPRESSION snappy)`);
  return {};
});
