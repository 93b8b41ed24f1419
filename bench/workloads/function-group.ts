/** A function makes the key that rows are grouped by: what no engine of SQL alone can do. */
import { MEMORY_TARGETS, type Workload } from "../workload.ts";

export const functionGroup: Workload = {
  name: "function-group",
  title: "readParquet, 3 columns of lineitem → map(row => {…}) → groupBy on its result → sort",
  // Python engines take minutes for these; `--rows 60e6` is for those who have the time.
  rows: 6e6,
  scales: true,
  tables: ["lineitem"],
  peers: ["daft", "ray", "dask"],
  runs: 1,
  clock: "work",
  box: null,
  targets: [
    { kind: "faster", than: "daft", times: 5 },
    { kind: "faster", than: "ray", times: 5 },
    { kind: "faster", than: "dask", times: 5 },
    ...MEMORY_TARGETS,
  ],
};
