/** Few groups of many rows: reading and adding up. */
import { SUPERVISOR_TARGET, type Workload } from "../workload.ts";

export const q1: Workload = {
  name: "q1",
  title: "readParquet → where → groupBy, 4 groups, 8 aggregates → sort",
  rows: 60e6,
  scales: true,
  tables: ["lineitem"],
  peers: ["duckdb", "daft", "ray", "dask"],
  runs: 3,
  clock: "work",
  box: null,
  targets: [{ kind: "within", of: "duckdb", factor: 1.15 }, SUPERVISOR_TARGET],
};
