/** Each of TPC-H's queries, compared with DuckDB's own answer and time. 6 M rows are a scale of 1. */
import { QUERY_NAMES } from "../../examples/tpch/queries.ts";
import { SUPERVISOR_TARGET, type Workload } from "../workload.ts";

export const tpch: readonly Workload[] = QUERY_NAMES.map((query) => ({
  name: `tpch-${query}`,
  group: "tpch",
  program: "tpch",
  query,
  title: `TPC-H, query ${Number(query.slice(1))}`,
  rows: 6e6,
  scales: true,
  tables: ["tpch"],
  peers: ["duckdb"],
  runs: 3,
  clock: "work",
  box: null,
  targets: [SUPERVISOR_TARGET],
}));
