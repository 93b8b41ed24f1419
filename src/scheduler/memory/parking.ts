/**
 * Ends idle workers to leave their memory to one task, and lets them come back afterwards. The room `starts` follows
 * this state: for the wide kernel no worker is left; for a task that must run alone, only its own worker.
 */
import type { ParkedFor, State, WorkerState } from "../state/index.ts";
import { dismiss, withoutTask } from "./workers.ts";

export function park(state: State, whom: ParkedFor, except: WorkerState | null): void {
  state.memory.parkedFor.add(whom);
  endIdle(state, except);
}

export function unpark(state: State, whom: ParkedFor): void {
  state.memory.parkedFor.delete(whom);
}

export function isParkedFor({ memory: { parkedFor } }: State, whom: ParkedFor): boolean {
  return parkedFor.has(whom);
}

/** Ends idle workers, including those that have only just started. */
export function endIdle(state: State, except: WorkerState | null): void {
  for (const worker of withoutTask(state)) if (worker !== except) dismiss(state, worker);
}
