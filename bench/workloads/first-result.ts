/** How long a user waits for the first result: a fresh program, three items, one function. */
import { MEMORY_TARGETS, type Workload } from "../workload.ts";

export const firstResult: Workload = {
  name: "first-result",
  title: "a fresh program: fromItems([…]).map(…).takeAll()",
  rows: 3,
  scales: false,
  tables: [],
  peers: [],
  runs: 10,
  clock: "process",
  box: null,
  targets: [{ kind: "below", figure: "seconds", limit: 0.5 }, ...MEMORY_TARGETS],
};
