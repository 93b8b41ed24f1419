/** Events of sessions that were never run: how every one of them begins, and what a task tells at its end. */
import {
  EVENT_FORMAT,
  NO_FIGURES,
  type RecordedEvent,
  type StreamEvent,
  type WorkerId,
} from "../../src/protocol/index.ts";

type Started = Extract<StreamEvent, { type: "sessionStarted" }>;

/** The session, and its workers: each starts and is idle. */
export function* inventedStart(workers: number, more: Partial<Started>): Iterable<RecordedEvent> {
  yield {
    at: 0,
    type: "sessionStarted",
    format: EVENT_FORMAT,
    session: "invented",
    epoch: 1.8e12,
    host: "host",
    pid: 2,
    program: 3,
    node: "v20",
    workers,
    capacity: 2 ** 30,
    workerMemory: 2 ** 30,
    kernelThreads: 2,
    maxBlockSize: 2 ** 27,
    nodeMemory: 2 ** 33,
    thresholds: { target: 0.6, spill: 0.7, pause: 0.8, terminate: 0.95 },
    nodeThreshold: 0.95,
    settings: [],
    ...more,
  };
  for (let number = 1; number <= workers; number++) {
    const worker = number as WorkerId;
    yield { at: 1, type: "workerStarting", worker, kind: "worker", limit: 2 ** 30 };
    yield { at: 2, type: "worker", worker, to: "idle", pid: 1_000_000 + number };
  }
}

/** Figures of a task that turned ten rows into ten. */
export const TEN_ROWS = { ...NO_FIGURES, rowsIn: 10, rowsOut: 10 };
