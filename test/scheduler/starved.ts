import type { LearnedNeed, Step, TaskOperator, WorkerId } from "../../src/protocol/index.ts";
import type { WorkerEnd } from "../../src/scheduler/index.ts";
import { job, PAYLOAD, tasks } from "../simulate/plans.ts";
import { ended } from "../support/ends.ts";
import { ScriptedSession, splits } from "./scripted-session.ts";

export const MIB = 2 ** 20;
export const OUT_OF_HEAP = ended({ signal: "SIGABRT", cause: "heap" });
export const KILLED = ended({ signal: "SIGKILL", cause: "cgroupOom" });
export const POOL = { memory: 1024 * MIB, overhead: 96 * MIB, worker: 100 * MIB, threads: 2 };
export const COUNT = { kind: "count" } as const;

export function batched(
  batchSize: number,
  form: "mapBatches" | "map" = "mapBatches",
  isClass = false,
  maxInFlight = 1,
  onError: "fail" | "skip" = "fail",
): readonly Step[] {
  const options = { batchSize, batchFormat: "rows", maxInFlight, onError } as const;
  const payload = { id: PAYLOAD, length: 1, rows: 0 };
  return [{ kind: "function", operator: `${form}(fn)`, form, isClass, payload, options }];
}

/** One operator over so many splits, which only counts. */
export function counting(count: number, more: Partial<TaskOperator> = {}) {
  return job("j", [tasks(0, splits(count), { sink: COUNT, steps: batched(1024), ...more })]);
}

export class Oom extends ScriptedSession {
  ends(worker: number, end: WorkerEnd): void {
    this.tell({ type: "workerGone", worker: worker as WorkerId, end });
  }

  /** Ends the worker, brings another, and waits until the task has rested. */
  endsAndComesAgain(worker: number, end: WorkerEnd, next: number): void {
    this.ends(worker, end);
    this.up(next);
    this.wakes();
  }

  wakes(): void {
    this.now += 8_000;
    this.tell({ type: "tick" });
  }

  get retries() {
    return this.commands.flatMap((one) => (one.type === "event" && one.event.type === "oomRetry" ? [one.event] : []));
  }

  get needs(): LearnedNeed[] {
    return this.retries.map(({ need }) => need);
  }

  get error() {
    return this.wasTold("failed").at(-1)?.error;
  }
}
