/** What a worker has of memory, and the thresholds that it is judged by. */

import { type MemoryUse, managedOf, processOf } from "../../memory/index.ts";
import type { Bytes, Thresholds } from "../../protocol/index.ts";
import type { State, WorkerState } from "../state/index.ts";

/** As it is now: blocks come and go between readings. */
export function useOf({ ledger }: State, worker: WorkerState): MemoryUse {
  const { id, reading, kernelBytes, container, containerRead } = worker;
  return {
    private: Math.max(0, (reading?.private ?? 0) + (container?.bytes ?? 0) - containerRead),
    blocks: ledger.managed(id),
    kernel: kernelBytes,
    container: container?.bytes ?? 0,
    spilled: ledger.spilled(id),
  };
}

/** What of a worker's memory its thresholds go by (K13). */
export function pressingBytes(state: State, worker: WorkerState): Bytes {
  const use = useOf(state, worker);
  return state.memory?.measure === "managed" ? managedOf(use) : processOf(use);
}

export const NO_THRESHOLDS: Thresholds = { target: false, spill: false, pause: false, terminate: false };

/**
 * Of a worker with a container of the user's, blocks do not leave in the container's stead. One that can let go is asked
 * above `spill`, like the store, for what brings the worker below `target`.
 */
export function thresholdsOf({ memory }: State, { container }: WorkerState): Thresholds {
  const thresholds = memory?.thresholds ?? NO_THRESHOLDS;
  if (container === null || container.evicts) return thresholds;
  return { ...thresholds, target: false, spill: false };
}
