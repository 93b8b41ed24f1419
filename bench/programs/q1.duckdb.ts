/** DuckDB alone: TPC-H's first query over doubles. */
import { table, timedDuckdb } from "./duckdb-program.ts";
import { answerOfRows } from "./rows-answer.ts";

await timedDuckdb(async (database, job) =>
  answerOfRows(
    await database.rows(`
      SELECT l_returnflag, l_linestatus,
             sum(l_quantity) AS sum_qty, sum(l_extendedprice) AS sum_base_price,
             sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
             sum(l_extendedprice * (1 - l_discount) * (l_tax + 1)) AS sum_charge,
             avg(l_quantity) AS avg_qty, avg(l_extendedprice) AS avg_price, avg(l_discount) AS avg_disc,
             count(*) AS count_order
      FROM ${table(job.files.lineitem)}
      WHERE l_shipdate <= DATE '1998-09-02'
      GROUP BY l_returnflag, l_linestatus
      ORDER BY l_returnflag, l_linestatus`),
  ),
);
