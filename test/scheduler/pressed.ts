/** A session whose worker 1 has a task, a memory limit, and the usual thresholds. */

import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { settings } from "../support/memory-settings.ts";
import { blocksOf, splits, Table } from "./table.ts";

export { blocksOf, sliceOf, splits, Table } from "./table.ts";

/** In pages, so that blocks and thresholds meet. */
export const LIMIT = 100 * PAGE;

/** A job of one operator runs in worker 1, and has made so many blocks of a page, which the program has read and keeps. */
export function working(workers: number, blocks: number, memory = settings(), tasksOfJob = 100): Table {
  const table = new Table(workers, 400, { memory, workerMemory: LIMIT });
  table.put();
  table.start(job("j", [tasks(0, splits(tasksOfJob), { sink: blocksOf(1) })]), blocks + 100);
  for (let i = 0; i < blocks; i++) {
    table.asks(1);
    table.handsOver(1);
  }
  const made = table.wasTold("output").map(({ slice }) => slice.block.id);
  table.program({ type: "keep", blocks: made });
  return table;
}

/** Changes of step, in order. */
export const stepsOf = (table: Table) =>
  table.events.flatMap((event) => (event.type === "pressure" ? [`${event.from} ▸ ${event.to}`] : []));
