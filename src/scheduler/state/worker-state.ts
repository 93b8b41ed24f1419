/** A worker process as the scheduler knows it: what it does, and what each room keeps of it. Plain data. */

import type { Bytes, Milliseconds, QuickQuestion, WorkerId, WorkerPhase } from "../../protocol/index.ts";
import { newWorkerMemory, newWorkerRecycling, type WorkerMemory, type WorkerRecycling } from "./memory-state.ts";
import type { OperatorState } from "./operator-state.ts";
import { newWorkerResources, type WorkerResources } from "./resources-state.ts";
import type { Birth } from "./starts-state.ts";
import { newWorkerStore, type WorkerStore } from "./store-state.ts";
import type { TaskState } from "./task-state.ts";

export interface WorkerState {
  readonly id: WorkerId;
  /** Written by the room `core` when the worker connects; 0 before. */
  pid: number;
  readonly birth: Birth;
  /** Written by `moveWorker` alone (phases/worker.ts). */
  phase: WorkerPhase;
  /** The operators that it has been sent; written by the room `phases`. */
  readonly knows: Set<OperatorState>;
  /** The classes among them that have run a task in it; written by the room `phases`. */
  readonly ran: Set<OperatorState>;
  /** What it does; written by the room `jobs`. */
  task: TaskState | null;
  inspection: Inspection | null;
  readonly memory: WorkerMemory;
  readonly recycling: WorkerRecycling;
  readonly store: WorkerStore;
  readonly resources: WorkerResources;
}

/** `recent`: how long unmanaged memory counts as recent. */
export function newWorker(id: WorkerId, birth: Birth, limit: Bytes, recent: Milliseconds): WorkerState {
  return {
    id,
    pid: 0,
    birth,
    phase: "starting",
    knows: new Set(),
    ran: new Set(),
    task: null,
    inspection: null,
    memory: newWorkerMemory(limit, recent),
    recycling: newWorkerRecycling(),
    store: newWorkerStore(),
    resources: newWorkerResources(),
  };
}

export interface Inspection {
  readonly request: number;
  readonly sql: string;
  readonly quick?: QuickQuestion;
  readonly maxRetries: number;
  attempts: number;
  /** The kernel ran out of memory for this question: the next attempt gets all the memory for tasks. */
  relief: boolean;
}
