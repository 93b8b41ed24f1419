/**
 * Workers that the node's monitor ends although they have little memory, because processes outside the session fill the
 * node. Such an end says nothing about what the task needs: it is run again unchanged (oom.ts), and its operator learns
 * nothing from it.
 */

import { fixedShares } from "../../memory/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import type { State, TaskState, WorkerState } from "../state/index.ts";

/** Share of the worker's limit. */
const LITTLE = 0.5;
/** What a task may have taken if its worker has more memory than a worker at rest. */
const HARDLY_GROWN: Bytes = 32 * 2 ** 20;

/** Memory on the node that is not the session's; null if the session itself has the larger part. */
export function foreignPart(state: State, used: Bytes): Bytes | null {
  const { ledger, workers } = state;
  const { processes } = state.memory;
  const { wide } = state.phases;
  let own = ledger.live + ledger.cached + processes.supervisor.private + processes.program.private;
  for (const { memory } of workers.values()) own += memory.reading?.private ?? 0;
  own += wide?.memory.reading?.private ?? 0;
  const foreign = used - own;
  return foreign > own ? foreign : null;
}

/** `seen`: the most that the worker had. */
export function isBystander(
  { memory: { foreign, limit: memory } }: WorkerState,
  { run: { startedWith } }: TaskState,
  seen: Bytes,
): boolean {
  if (foreign === null || seen === 0 || seen > LITTLE * memory) return false;
  return seen <= fixedShares.worker || (startedWith !== null && seen - startedWith <= HARDLY_GROWN);
}
