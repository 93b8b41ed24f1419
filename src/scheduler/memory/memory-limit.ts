/**
 * The memory limit of workers, changed while they work (K1). Thresholds follow at once. A running V8 keeps the heap
 * that it was started with, so workers are replaced one after another: those without a task now, the others after their
 * task. A worker with a class instance is kept as long as the instance is needed, as in raised.ts.
 */
import type { Bytes } from "../../protocol/index.ts";
import { type State, watch } from "../state/index.ts";
import { hasInstance } from "./raised.ts";
import { standAgain } from "./readings.ts";
import { dismiss } from "./workers.ts";

/** `limit`, `heap`: of a worker that was not raised; null: none. */
export function setMemoryLimit(state: State, limit: Bytes | null, heap: Bytes | null): void {
  const memory = limit ?? Number.POSITIVE_INFINITY;
  const target = state.memory?.thresholds.target ?? false;
  state.workerMemory = memory;
  state.heapLimit = heap;
  state.managedTarget = limit === null || target === false ? null : Math.floor(limit * target);
  state.ledger.target = state.managedTarget;
  for (const worker of state.workers.values()) {
    if (state.raised.has(worker) && worker.memory > memory) continue;
    state.raised.delete(worker);
    worker.memory = memory;
    if (worker.phase === "stopping" || worker.startedWith === memory) state.unfit.delete(worker);
    else state.unfit.add(worker);
  }
  standAgain(state);
  watch(state, { type: "memoryLimit", limit });
}

/** Called before tasks are given out: replaces workers whose heap does not fit their limit. */
export function replaceUnfit(state: State): void {
  if (state.unfit.size === 0) return;
  for (const { phase } of state.workers.values()) if (phase === "starting" || phase === "stopping") return;
  for (const worker of state.unfit) {
    if (worker.phase !== "idle" || hasInstance(worker)) continue;
    dismiss(state, worker);
    return;
  }
}
