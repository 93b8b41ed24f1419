/**
 * Workers that the node's monitor ends although they have little: processes that are not the session's fill the node. What their
 * tasks need is no news then: they are run again as they were (oom.ts), and their operators learn nothing of it.
 */

import { fixedShares } from "../../memory/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import type { State, TaskState, WorkerState } from "../state/index.ts";

/** Of its limit. */
const LITTLE = 0.5;
/** What a task may have taken where its worker has more than one that does nothing much. */
const HARDLY_GROWN: Bytes = 32 * 2 ** 20;

/** Of what the node uses, what is not the session's; null where the session itself has the larger part. */
export function foreignPart(state: State, used: Bytes): Bytes | null {
  const { ledger, processes, workers, wide } = state;
  let own = ledger.live + ledger.cached + processes.supervisor.private + processes.program.private;
  for (const { reading } of workers.values()) own += reading?.private ?? 0;
  own += wide.worker?.reading?.private ?? 0;
  const foreign = used - own;
  return foreign > own ? foreign : null;
}

/** `seen`: the most that the worker had. */
export function isBystander({ foreign, memory }: WorkerState, { startedWith }: TaskState, seen: Bytes): boolean {
  if (foreign === null || seen === 0 || seen > LITTLE * memory) return false;
  return seen <= fixedShares.worker || (startedWith !== null && seen - startedWith <= HARDLY_GROWN);
}
