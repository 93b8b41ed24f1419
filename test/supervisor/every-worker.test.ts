import { expect, test } from "vitest";
import type { ToProgram, ToWorker, WorkerAnswer, WorkerId } from "../../src/protocol/index.ts";
import { type AskedPool, EveryWorker } from "../../src/supervisor/every-worker.ts";
import { ended } from "../support/ends.ts";

/** Workers that are up when the test says so. */
class Workers implements AskedPool {
  connected: { worker: WorkerId; kind: "worker" | "wide" }[] = [];
  isComplete = false;
  readonly sent: { worker: WorkerId; message: ToWorker }[] = [];
  readonly replies: ToProgram[] = [];
  readonly every = new EveryWorker(this, this, (message) => this.replies.push(message));

  send(worker: WorkerId, message: ToWorker): void {
    this.sent.push({ worker, message });
  }

  up(id: number, isComplete: boolean, kind: "worker" | "wide" = "worker"): void {
    this.connected.push({ worker: id as WorkerId, kind });
    this.isComplete = isComplete;
    this.every.changed();
  }

  dies(id: number, end = ended()): void {
    this.connected = this.connected.filter(({ worker }) => worker !== id);
    this.isComplete = false;
    this.every.gone(id as WorkerId, end);
  }

  answers(id: number, request: number): void {
    this.every.answered(id as WorkerId, request, answer(id));
  }

  get asked(): number[] {
    return this.sent.map(({ worker }) => worker);
  }
}

function answer(id: number): WorkerAnswer {
  return { worker: id as WorkerId, value: `of ${id}`, error: null };
}

test("[K11] a question waits for workers that are starting, asks each once, and is answered when all have answered", () => {
  const workers = new Workers();
  workers.up(1, false);
  workers.every.ask({ type: "call", request: 7, payload: "p" });
  expect(workers.sent).toEqual([{ worker: 1, message: { type: "call", request: 7, payload: "p" } }]);
  workers.answers(1, 7);
  expect(workers.replies).toEqual([]);
  workers.up(2, true);
  expect(workers.asked).toEqual([1, 2]);
  // It came up after all that were wanted had: it is not asked.
  workers.up(3, true);
  workers.answers(2, 7);
  expect(workers.asked).toEqual([1, 2]);
  expect(workers.replies).toEqual([{ type: "called", request: 7, answers: [answer(1), answer(2)] }]);
});

test("[K11] a worker's death is its answer, and the rest is not lost", () => {
  const workers = new Workers();
  workers.up(1, false);
  workers.up(2, true);
  workers.every.ask({ type: "call", request: 1, payload: "p" });
  workers.every.ask({ type: "trim", request: 2 });
  workers.answers(2, 1);
  workers.dies(1);
  expect(workers.replies).toMatchObject([
    {
      type: "called",
      request: 1,
      answers: [{ worker: 1, value: null, error: { name: "WorkerDiedError" } }, answer(2)],
    },
  ]);
  const report = { worker: 2 as WorkerId, before: 2, after: 1, skipped: [] };
  workers.every.answered(2 as WorkerId, 2, report);
  expect(workers.replies[1]).toEqual({ type: "trimmed", request: 2, workers: [report] });
});

test("[K11] for a worker that was sent away the one answers that takes its place", () => {
  const workers = new Workers();
  workers.up(1, false);
  workers.up(2, false);
  workers.every.ask({ type: "call", request: 1, payload: "p" });
  workers.answers(2, 1);
  for (const [gone, next] of [
    [1, 3],
    [2, 4],
  ] as const) {
    workers.dies(gone, ended({ exitCode: 0, cause: "asked" }));
    workers.up(next, next === 4);
  }
  workers.answers(3, 1);
  workers.answers(4, 1);
  expect(workers.replies).toEqual([{ type: "called", request: 1, answers: [answer(3), answer(4)] }]);
});

test("[K11] the wide kernel runs no functions, and is trimmed", () => {
  const workers = new Workers();
  workers.up(1, true);
  workers.up(2, true, "wide");
  workers.every.ask({ type: "call", request: 1, payload: "p" });
  expect(workers.asked).toEqual([1]);
  workers.every.ask({ type: "trim", request: 2 });
  expect(workers.asked).toEqual([1, 1, 2]);
});

test("[K11] where no worker comes up the question is refused with the reason; those that were asked still answer", () => {
  const workers = new Workers();
  const error = { name: "WorkerDiedError", message: "cannot be started", stack: null, fields: {} };
  workers.every.ask({ type: "trim", request: 1 });
  workers.every.unavailable(error);
  expect(workers.replies).toEqual([{ type: "refused", request: 1, error }]);
  workers.up(1, true);
  expect(workers.sent).toEqual([]);
});

test("[K11] one that is replaced after all were asked, and before it has answered, is no death", () => {
  const workers = new Workers();
  workers.up(1, false);
  workers.up(2, true);
  workers.every.ask({ type: "call", request: 1, payload: "p" });
  workers.answers(2, 1);
  workers.dies(1, ended({ exitCode: 0, cause: "asked" }));
  expect(workers.replies).toEqual([]);
  workers.up(3, true);
  workers.answers(3, 1);
  expect(workers.replies).toEqual([{ type: "called", request: 1, answers: [answer(2), answer(3)] }]);
});
