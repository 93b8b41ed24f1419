/**
 * The wide kernel: one process beside the workers, for what needs all rows and all threads. It has one task at a time;
 * wide-turn.ts decides which. The output of its task is handed on only when it is complete, because with several
 * threads a second attempt would make other blocks.
 */

import { keepGathered, nextTask } from "../flow/index.ts";
import { beginLease, isSomebodyAlone } from "../memory/index.ts";
import { areStartsPaused } from "../starts/index.ts";
import type { State } from "../state/index.ts";
import { waitsForWide } from "../state/index.ts";
import { begin } from "./begin.ts";
import { isAnyWanted, nextInTurn, yieldInTurn } from "./wide-turn.ts";

/** Starts the next wide task, or the process for it; a task that waits for input may have to stand back first. */
export function startWide(state: State): void {
  const { placement } = state;
  const { wide } = state.phases;
  if (wide === null) {
    if (placement.isWideOrdered || areStartsPaused(state) || isSomebodyAlone(state) || !isAnyWanted(state)) return;
    placement.isWideOrdered = true;
    state.commands.push({ type: "spawnWide" });
    return;
  }
  yieldInTurn(state);
  if (wide.phase !== "idle" || isSomebodyAlone(state)) return;
  const operator = nextInTurn(state);
  if (operator === undefined || operator.spec.kind !== "tasks") return;
  const task = nextTask(state, operator, operator.spec);
  beginLease(state, task);
  begin(state, task, operator.spec, wide);
  for (const job of state.jobs.values()) {
    for (const other of job.operators) if (waitsForWide(state, other)) keepGathered(state, other);
  }
}

/** The ordered process of the wide kernel has begun to start. */
export function wideBegins({ placement }: State): void {
  placement.isWideOrdered = false;
}
