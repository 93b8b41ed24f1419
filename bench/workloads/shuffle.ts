/** All rows in a random order, written. */
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
  // In a random order half of the rows are below the previous one; in the order of orders no line is.
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
