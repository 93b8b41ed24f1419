/** Without any function: what the tasks, processes and files around the kernel cost, compared with the kernel alone. */
import { MEMORY_TARGETS, type Workload } from "../workload.ts";

export const etl: Workload = {
  name: "etl",
  title: "readParquet → filter(expr) → select, one column computed → writeParquet",
  rows: 60e6,
  scales: true,
  tables: ["lineitem"],
  peers: ["duckdb"],
  runs: 3,
  clock: "work",
  answerOfFiles: `
    SELECT count(*) AS rows, sum(l_orderkey)::DOUBLE AS keys, sum(revenue) AS revenue, sum(length(l_comment)) AS comments,
           min(l_shipdate) AS first, max(l_shipdate) AS last
    FROM read_parquet('{written}')`,
  box: null,
  targets: [{ kind: "within", of: "duckdb", factor: 1.15 }, ...MEMORY_TARGETS],
};
