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
  const target = state.options.memory?.thresholds.target ?? false;
  state.memory.workerMemory = memory;
  state.memory.heapLimit = heap;
  state.memory.managedTarget = limit === null || target === false ? null : Math.floor(limit * target);
  state.ledger.target = state.memory.managedTarget;
  for (const worker of state.workers.values()) {
    if (state.memory.raised.has(worker) && worker.memory.limit > memory) continue;
    state.memory.raised.delete(worker);
    worker.memory.limit = memory;
    if (worker.phase === "stopping" || worker.memory.startedWith === memory) state.memory.unfit.delete(worker);
    else state.memory.unfit.add(worker);
  }
  standAgain(state);
  watch(state, { type: "memoryLimit", limit });
}

/** Called before tasks are given out: replaces workers whose heap does not fit their limit. */
export function replaceUnfit(state: State): void {
  if (state.memory.unfit.size === 0) return;
  for (const { phase } of state.workers.values()) if (phase === "starting" || phase === "stopping") return;
  for (const worker of state.memory.unfit) {
    if (worker.phase !== "idle" || hasInstance(worker)) continue;
    dismiss(state, worker);
    return;
  }
}
