/** DuckDB alone: every line with its order, then groups. */
import { table, timedDuckdb } from "./duckdb-program.ts";
import { answerOfRows } from "./rows-answer.ts";

await timedDuckdb(async (database, job) =>
  answerOfRows(
    await database.rows(`
      SELECT o_orderpriority, l_shipmode, count(*) AS lines, sum(l_extendedprice * (1 - l_discount)) AS revenue,
             max(o_orderdate) AS last
      FROM ${table(job.files.lineitem)} JOIN ${table(job.files.orders)} ON l_orderkey = o_orderkey
      GROUP BY o_orderpriority, l_shipmode
      ORDER BY o_orderpriority, l_shipmode`),
  ),
);
