/** A function computes the key that rows are grouped by, which pure SQL engines cannot do. */
import { MEMORY_TARGETS, type Workload } from "../workload.ts";

export const functionGroup: Workload = {
  name: "function-group",
  title: "readParquet, 3 columns of lineitem → map(row => {…}) → groupBy on its result → sort",
  // Python engines take minutes for these rows; `--rows 60e6` takes much longer.
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
