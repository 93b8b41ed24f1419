/** All rows in an order that chance gives, written. */
import { SUPERVISOR_TARGET, type Workload } from "../workload.ts";

export const shuffle: Workload = {
  name: "shuffle",
  title: "readParquet, 4 columns of lineitem → randomShuffle → writeParquet",
  rows: 60e6,
  scales: true,
  tables: ["lineitem"],
  peers: ["duckdb", "ray"],
  runs: 1,
  clock: "work",
  // Of rows in an order of chance, half are below the one before; of lines in the order of their orders, none.
  answerOfFiles: `
    WITH steps AS (
      SELECT *, l_orderkey < lag(l_orderkey) OVER () AS back FROM read_parquet('{written}')
    )
    SELECT count(*) AS rows, sum(l_orderkey)::DOUBLE AS orders, sum(l_partkey)::DOUBLE AS parts,
           sum(l_extendedprice) AS prices, round(count(*) FILTER (WHERE back) / count(*), 1) AS back
    FROM steps`,
  box: null,
  targets: [SUPERVISOR_TARGET],
};
