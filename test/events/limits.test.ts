/** The memory limits of workers as readers of events know them. */
import { expect, test } from "vitest";
import { apply, emptyState } from "../../src/events/index.ts";
import type { Bytes, RecordedEvent, WorkerId } from "../../src/protocol/index.ts";

test("[K1] [W2] a changed limit is known of the session and of its workers, but for raised ones and the wide kernel", () => {
  const state = emptyState();
  const start = { at: 0, type: "sessionStarted", workers: 2, workerMemory: 100 };
  apply(state, start as unknown as RecordedEvent);
  const kinds = [
    ["worker", 100],
    ["worker", 300],
    ["wide", 500],
  ] as const;
  for (const [i, [kind, limit]] of kinds.entries()) {
    apply(state, { at: 1, type: "workerStarting", worker: i as WorkerId, kind, limit });
  }
  const after = (limit: Bytes | null) => {
    apply(state, { at: 2, type: "memoryLimit", limit });
    return [state.session?.workerMemory, ...[...state.workers.values()].map((worker) => worker.limit)];
  };
  expect(after(200)).toEqual([200, 200, 300, 500]);
  expect(after(400)).toEqual([400, 400, 400, 500]);
  expect(after(150)).toEqual([150, 150, 150, 500]);
  expect(after(null)).toEqual([null, null, null, 500]);
  expect(after(120)).toEqual([120, 120, 120, 500]);
});
