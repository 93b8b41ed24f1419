/**
 * A request about the workers of a new session waits until all of them have connected. Later requests are answered at
 * once, even while a worker is being replaced. The wait has a limit, because workers may be slow or fail to start.
 */
import type { Milliseconds } from "../../protocol/index.ts";
import type { State } from "../state/index.ts";
import { isComplete } from "./starts.ts";

/** Five times the duration of a start on a busy machine. */
const LONGEST_WAIT: Milliseconds = 10_000;

/** The program asks for the memory of all processes. They are measured when the first workers are there. */
export function memoryAsked({ starts: { firstWorkers }, now }: State, request: number): void {
  firstWorkers.asked = [...firstWorkers.asked, request];
  firstWorkers.waitUntil ??= now + LONGEST_WAIT;
}

/** Has memory measured for the requests that need not wait any longer. */
export function settleFirstWorkers(state: State): void {
  const { firstWorkers, allFrom } = state.starts;
  const { asked, waitUntil } = firstWorkers;
  // Before the session is open, no worker is wanted.
  const isOpen = allFrom !== null;
  if (isOpen && !firstWorkers.areUp) {
    firstWorkers.areUp = isComplete(state) || (waitUntil !== null && state.now >= waitUntil);
  }
  if (asked.length === 0 || (isOpen && !firstWorkers.areUp)) return;
  firstWorkers.asked = [];
  for (const request of asked) state.commands.push({ type: "measure", request });
}

export function firstWorkersDeadline({ starts: { firstWorkers } }: State): Milliseconds {
  const { areUp, waitUntil } = firstWorkers;
  return areUp || waitUntil === null ? Number.POSITIVE_INFINITY : waitUntil;
}
