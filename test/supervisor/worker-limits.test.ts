import { expect, test } from "vitest";
import type { ToWorker, WorkerId } from "../../src/protocol/index.ts";
import { WorkerLimits } from "../../src/supervisor/worker-limits.ts";

const ORDINARY = 1 as WorkerId;
const RAISED = 2 as WorkerId;
const WIDE = 3 as WorkerId;
const ALL = [ORDINARY, RAISED, WIDE];

function limitsOf(ordinary: number | null) {
  const sent: [WorkerId, ToWorker][] = [];
  const pool = {
    workers: ALL.map((worker) => ({ worker, pid: 1 })),
    kindOf: (worker: WorkerId) => (worker === WIDE ? ("wide" as const) : ("worker" as const)),
    memoryOf: (worker: WorkerId) => (worker === RAISED ? 5000 : null),
    send: (worker: WorkerId, message: ToWorker) => sent.push([worker, message]),
  };
  return { sent, limits: new WorkerLimits(pool, ordinary) };
}

test("[K1] a limit that is changed is the allowance of every worker but those with limits of their own and the wide kernel", () => {
  const { limits, sent } = limitsOf(1000);
  expect(ALL.map((worker) => limits.allowanceOf(worker))).toEqual([1000, 5000, null]);
  limits.set(2000);
  expect(sent).toEqual([
    [ORDINARY, { type: "allowance", bytes: 2000 }],
    [RAISED, { type: "allowance", bytes: 5000 }],
    [WIDE, { type: "allowance", bytes: null }],
  ]);
  expect(limits.of(ORDINARY)).toBe(2000);
});

test("[K1] a worker that was raised keeps its own limit only as long as that is the larger one", () => {
  const { limits } = limitsOf(1000);
  limits.set(8000);
  expect([limits.of(RAISED), limits.allowanceOf(RAISED)]).toEqual([8000, 8000]);
  limits.set(null);
  expect([limits.of(RAISED), limits.allowanceOf(RAISED)]).toEqual([null, null]);
});
