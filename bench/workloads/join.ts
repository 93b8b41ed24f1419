/** A join in which both sides are large: every line with its order. */
import { SUPERVISOR_TARGET, type Workload } from "../workload.ts";

export const join: Workload = {
  name: "join",
  title: "lineitem join orders → groupBy, 35 groups → sort",
  rows: 60e6,
  scales: true,
  tables: ["lineitem", "orders"],
  peers: ["duckdb", "daft", "dask"],
  runs: 3,
  clock: "work",
  box: null,
  targets: [{ kind: "within", of: "duckdb", factor: 1.15 }, SUPERVISOR_TARGET],
};
