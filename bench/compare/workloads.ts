/**
 * The workloads of a comparison: those of the benchmark, at scales that take 1 to 4 CPU seconds (tiny-tasks: 2 ms a
 * task).
 */
import type { Workload } from "../workload.ts";
import { join } from "../workloads/join.ts";
import { rowFunction } from "../workloads/row-function.ts";
import { sort } from "../workloads/sort.ts";
import { tinyTasks } from "../workloads/tiny-tasks.ts";

export const COMPARED: readonly Workload[] = [
  { ...tinyTasks, title: "range(4000) in 4,000 blocks → map(…) → takeAll()", rows: 4000, tasks: 4000 },
  { ...rowFunction, rows: 3e6 },
  { ...sort, rows: 3e6 },
  { ...join, rows: 3e6 },
];
