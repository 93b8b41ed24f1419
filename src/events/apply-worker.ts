/** Workers in the reducer. */
import type { Milliseconds, RecordedEvent } from "../protocol/index.ts";
import type { SessionState, WorkerView } from "./state.ts";
import { bucketAt } from "./timeline.ts";

type Of<Type extends RecordedEvent["type"]> = Extract<RecordedEvent, { type: Type }>;

export function applyWorker(state: SessionState, event: Of<"workerStarting" | "worker" | "workerGone">): void {
  const { worker: id, at } = event;
  if (event.type === "workerStarting") {
    const { kind, limit } = event;
    state.workers.set(id, {
      id,
      kind,
      limit,
      startedAt: at,
      pid: null,
      phase: "starting",
      since: at,
      task: null,
      reading: null,
    });
    return;
  }
  if (event.type === "workerGone") {
    state.workers.delete(id);
    if (event.reason !== "asked") bucketAt(state.timeline, at).kills += 1;
    return;
  }
  const worker = state.workers.get(id);
  if (worker === undefined) return;
  turn(worker, event.to, at);
  if (event.pid !== undefined) worker.pid = event.pid;
}

export function turn(worker: WorkerView, to: WorkerView["phase"], at: Milliseconds): void {
  worker.phase = to;
  worker.since = at;
}
