/** All rows in an order, written: nothing can be written before everything is read. */
import { SUPERVISOR_TARGET, type Workload } from "../workload.ts";

/** A single number with the order of the two keys. */
const KEY = "(l_shipdate::DATE - DATE '1992-01-01')::BIGINT * 10000000 + l_partkey";

export const sort: Workload = {
  name: "sort",
  title: "readParquet, 4 columns of lineitem → sort by 2 → writeParquet",
  rows: 60e6,
  scales: true,
  tables: ["lineitem"],
  peers: ["duckdb", "daft", "ray", "dask"],
  runs: 1,
  clock: "work",
  // Each file is in order, and no two files overlap. `lag` without an order follows the files' own.
  answerOfFiles: `
    WITH keys AS (
      SELECT filename, l_orderkey, l_extendedprice, ${KEY} AS key
      FROM read_parquet('{written}', filename = true)
    ), steps AS (
      SELECT *, filename = lag(filename) OVER () AND key < lag(key) OVER () AS back FROM keys
    ), files AS (
      SELECT min(key) AS low, max(key) AS high, count(*) AS rows, count(*) FILTER (WHERE back) AS back,
             sum(l_orderkey)::DOUBLE AS orders, sum(key)::DOUBLE AS keys, sum(l_extendedprice) AS prices
      FROM steps GROUP BY filename
    ), ranges AS (
      SELECT *, low < lag(high) OVER (ORDER BY low, high) AS reaches_back FROM files
    )
    SELECT sum(rows)::DOUBLE AS rows, sum(orders) AS orders, sum(keys) AS keys, sum(prices) AS prices,
           sum(back)::DOUBLE AS out_of_order, count(*) FILTER (WHERE reaches_back)::DOUBLE AS overlapping_files
    FROM ranges`,
  box: null,
  targets: [
    { kind: "within", of: "duckdb", factor: 1.15 },
    { kind: "faster", than: "daft", times: 1 },
    { kind: "faster", than: "ray", times: 1 },
    { kind: "faster", than: "dask", times: 1 },
    SUPERVISOR_TARGET,
  ],
};
