/** A plain function called for every row, with a string among its columns: the slowest case of Python engines. */
import { MEMORY_TARGETS, type Workload } from "../workload.ts";

export const rowFunction: Workload = {
  name: "row-function",
  title: "readParquet, 4 columns of lineitem → map(row => {…}) → sums",
  rows: 6e6,
  scales: true,
  tables: ["lineitem"],
  peers: ["daft", "daft-processes", "ray", "dask"],
  runs: 1,
  clock: "work",
  box: null,
  targets: [
    { kind: "faster", than: "daft", times: 10 },
    { kind: "faster", than: "daft-processes", times: 10 },
    { kind: "faster", than: "ray", times: 10 },
    { kind: "faster", than: "dask", times: 10 },
    ...MEMORY_TARGETS,
  ],
};
