/** A session whose worker 1 has a task, a memory limit, and the usual thresholds. */

import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { settings } from "../support/memory-settings.ts";
import { blocksOf, ScriptedSession, splits } from "./scripted-session.ts";

export { blocksOf, ScriptedSession, sliceOf, splits } from "./scripted-session.ts";

/** In pages, so that blocks and thresholds meet. */
export const LIMIT = 100 * PAGE;

/**
 * A job of one operator runs in worker 1, and has made so many blocks of a page, which the program has read and keeps.
 */
export function working(workers: number, blocks: number, memory = settings(), tasksOfJob = 100): ScriptedSession {
  const session = new ScriptedSession(workers, 400, { memory, workerMemory: LIMIT });
  session.put();
  session.start(job("j", [tasks(0, splits(tasksOfJob), { sink: blocksOf(1) })]), blocks + 100);
  for (let i = 0; i < blocks; i++) {
    session.asks(1);
    session.handsOver(1);
  }
  const made = session.wasTold("output").map(({ slice }) => slice.block.id);
  session.program({ type: "keep", blocks: made });
  return session;
}

/** Changes of step, in order. */
export const stepsOf = (session: ScriptedSession) =>
  session.events.flatMap((event) => (event.type === "pressure" ? [`${event.from} ▸ ${event.to}`] : []));
