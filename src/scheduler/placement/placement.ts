/**
 * Which of several idle workers gets a task: the one with the least memory (K15). dispatch.ts decides which workers may
 * have it.
 */
import type { Bytes } from "../../protocol/index.ts";
import { isLargeEnough } from "../memory/index.ts";
import type { OperatorState, State, WorkerState } from "../state/index.ts";

/**
 * With more idle workers than this, one of the first of them is good enough: a task starts without a look at thousands.
 */
export const MOST_COMPARED = 64;

/** Memory that a worker is likely to keep: recent memory may be gone with the next collection. */
export function loadOf({ options: { memory } }: State, { memory: { kinds } }: WorkerState): Bytes {
  switch (memory?.measure) {
    case undefined:
      return 0;
    case "managed":
      return kinds.managed;
    case "auto":
      return kinds.managed + kinds.unmanaged;
    case "process":
      return kinds.managed + kinds.unmanaged + kinds.recent;
  }
}

/**
 * The least loaded of the idle workers that have the operator and are large enough for it; among equals the first one.
 */
export function leastLoaded(state: State, operator: OperatorState): WorkerState | null {
  let found: WorkerState | null = null;
  let compared = 0;
  for (const worker of operator.phases.idle) {
    if (!isLargeEnough(state, worker, operator)) continue;
    if (found === null || loadOf(state, worker) < loadOf(state, found)) found = worker;
    compared += 1;
    if (state.options.memory === null || compared === MOST_COMPARED) break;
  }
  return found;
}
