/** All workloads, in the order they run and are reported. */
import type { Workload } from "../workload.ts";
import { batchFunction } from "./batch-function.ts";
import { etl } from "./etl.ts";
import { firstResult } from "./first-result.ts";
import { rowFunction } from "./row-function.ts";
import { stream } from "./stream.ts";
import { tinyTasks } from "./tiny-tasks.ts";

export const WORKLOADS: readonly Workload[] = [firstResult, tinyTasks, rowFunction, batchFunction, etl, stream];
