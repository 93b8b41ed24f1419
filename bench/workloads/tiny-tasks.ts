/** What a task costs that does almost nothing: messages, scheduling, one block sealed and handed over. */
import { MEMORY_TARGETS, type Workload } from "../workload.ts";

export const tinyTasks: Workload = {
  name: "tiny-tasks",
  title: "range(1000) in 1,000 blocks → map(…) → takeAll()",
  rows: 1000,
  scales: false,
  tables: [],
  peers: ["ray", "dask"],
  runs: 3,
  clock: "work",
  tasks: 1000,
  box: null,
  targets: [{ kind: "below", figure: "millisecondsPerTask", limit: 2 }, ...MEMORY_TARGETS],
};
