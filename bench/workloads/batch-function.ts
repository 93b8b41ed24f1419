/** A numeric function over whole columns: Python engines use numpy's compiled loops here, we use V8's. */
import { MEMORY_TARGETS, type Workload } from "../workload.ts";

export const batchFunction: Workload = {
  name: "batch-function",
  title: "readParquet, 2 columns of lineitem → mapBatches(sum of log1p(price * (1 - discount)))",
  rows: 60e6,
  scales: true,
  tables: ["lineitem"],
  peers: ["daft", "ray", "dask"],
  runs: 3,
  clock: "work",
  box: null,
  targets: [
    { kind: "faster", than: "daft", times: 1 },
    { kind: "faster", than: "ray", times: 1 },
    { kind: "faster", than: "dask", times: 1 },
    ...MEMORY_TARGETS,
  ],
};
