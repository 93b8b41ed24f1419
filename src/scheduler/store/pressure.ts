/** A worker's memory, and the thresholds that apply to it. */

import { type MemoryUse, managedOf, processOf } from "../../memory/index.ts";
import type { Bytes, Thresholds } from "../../protocol/index.ts";
import type { State, WorkerState } from "../state/index.ts";

/** As it is now: blocks come and go between readings. */
export function useOf({ ledger }: State, worker: WorkerState): MemoryUse {
  const { id } = worker;
  const { reading, kernelBytes, workerData, workerDataRead } = worker.memory;
  return {
    private: Math.max(0, (reading?.private ?? 0) + (workerData?.bytes ?? 0) - workerDataRead),
    blocks: ledger.managed(id),
    kernel: kernelBytes,
    workerData: workerData?.bytes ?? 0,
    spilled: ledger.spilled(id),
  };
}

/** The part of a worker's memory that its thresholds apply to (K13). */
export function pressingBytes(state: State, worker: WorkerState): Bytes {
  const use = useOf(state, worker);
  return state.options.memory?.measure === "managed" ? managedOf(use) : processOf(use);
}

const NO_THRESHOLDS: Thresholds = { target: false, spill: false, pause: false, terminate: false };

/**
 * In a worker with worker data, blocks do not leave in place of that data. Worker data that can free memory is asked to
 * above `spill`, like the store, for enough to bring the worker below `target`.
 */
export function thresholdsOf({ options: { memory } }: State, { memory: { workerData } }: WorkerState): Thresholds {
  const thresholds = memory?.thresholds ?? NO_THRESHOLDS;
  if (workerData === null || workerData.evicts) return thresholds;
  return { ...thresholds, target: false, spill: false };
}
