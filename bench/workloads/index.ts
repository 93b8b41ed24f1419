/** All workloads, in the order in which they run and are reported. */
import type { Workload } from "../workload.ts";
import { batchFunction } from "./batch-function.ts";
import { boxed, inBoxes } from "./boxed.ts";
import { etl } from "./etl.ts";
import { firstResult } from "./first-result.ts";
import { functionGroup } from "./function-group.ts";
import { join } from "./join.ts";
import { q1 } from "./q1.ts";
import { rowFunction } from "./row-function.ts";
import { shuffle } from "./shuffle.ts";
import { sort } from "./sort.ts";
import { stream } from "./stream.ts";
import { tinyTasks } from "./tiny-tasks.ts";
import { tpch } from "./tpch.ts";

const GiB = 2 ** 30;

export const WORKLOADS: readonly Workload[] = [
  firstResult,
  tinyTasks,
  rowFunction,
  batchFunction,
  functionGroup,
  q1,
  etl,
  sort,
  join,
  shuffle,
  ...tpch,
  stream,
  ...[q1, etl, sort, join, shuffle].flatMap(inBoxes),
  boxed(functionGroup, 2 * GiB, {
    targets: [
      { kind: "faster", than: "daft", times: 1 },
      { kind: "faster", than: "ray", times: 1 },
      { kind: "faster", than: "dask", times: 1 },
    ],
  }),
  boxed(functionGroup, GiB / 2, { rows: 60e6, peers: [], targets: [] }),
];
