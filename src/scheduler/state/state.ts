/**
 * What the scheduler remembers: jobs of operators, operators with their queues, tasks, workers. Plain data. Every move
 * from phase to phase is made in the room `phases`.
 *
 *   JobState ─▶ OperatorState ─▶ Edge ─▶ OperatorState … ─▶ Edge ─▶ the program
 *                    │
 *                    └─▶ TaskState ─▶ WorkerState
 *
 * Each of these, and the session itself, is divided by owner. What a room keeps is one object in the file named after
 * the room (flow-state.ts, memory-state.ts …). Every room may read it; only its owner writes it, and other rooms call
 * the owner's functions (test/owners.test.ts).
 */

import type { ResolvedSettings } from "../../config/index.ts";
import type { MemoryPool } from "../../memory/index.ts";
import type { Bytes, JobId, JobNews, MemorySettings, Milliseconds, WorkerId } from "../../protocol/index.ts";
import type { Ledger } from "../../store/index.ts";
import type { Command } from "./events.ts";
import type { FlowState } from "./flow-state.ts";
import type { JobState } from "./job-state.ts";
import type { MemoryState } from "./memory-state.ts";
import type { OperatorState } from "./operator-state.ts";
import type { PhasesState } from "./phases-state.ts";
import type { PlacementState } from "./placement-state.ts";
import type { ResourcesState } from "./resources-state.ts";
import type { StartsState } from "./starts-state.ts";
import type { StoreState } from "./store-state.ts";
import type { EventStream } from "./stream.ts";
import type { WorkerState } from "./worker-state.ts";

/** What the settings come to on this machine, as the program worked it out. */
export interface SchedulerOptions extends Omit<ResolvedSettings, "pool" | "memory"> {
  readonly arenaSize: Bytes;
  /** The pool of memory that the wide kernel gets its lease from; null: there are no leases. */
  readonly pool: MemoryPool | null;
  /** Thresholds and how they are measured; null: nothing is done about memory. */
  readonly memory: MemorySettings | null;
}

export interface State {
  readonly options: SchedulerOptions;
  readonly ledger: Ledger;
  /** Written by the room `phases`, as are the workers. */
  readonly jobs: Map<JobId, JobState>;
  readonly workers: Map<WorkerId, WorkerState>;
  readonly phases: PhasesState;
  readonly flow: FlowState;
  readonly store: StoreState;
  readonly starts: StartsState;
  readonly memory: MemoryState;
  readonly resources: ResourcesState;
  readonly placement: PlacementState;
  /** Operators that have not ended and whose tasks compute alone; written by the room `needs`. */
  readonly alone: Set<OperatorState>;
  /** Operators whose tasks wait for the first batch of the first one; written by the room `needs`. */
  readonly trials: Set<OperatorState>;
  /** The time of the event that is being handled; written by the room `core`. */
  now: Milliseconds;
  /** Counts events that need an order. */
  order: number;
  readonly commands: Command[];
  readonly stream: EventStream;
}

/** The next in the order of asking, of starting, of being served. */
export function nextOrder(state: State): number {
  return state.order++;
}

export function send(state: State, worker: WorkerState, message: Extract<Command, { type: "toWorker" }>["message"]) {
  state.commands.push({ type: "toWorker", worker: worker.id, message });
}

/** The program is told how a job goes on. */
export function tellNews(state: State, news: JobNews): void {
  state.commands.push({ type: "jobNews", news, at: state.stream.at });
}

export function tell(state: State, message: Extract<Command, { type: "toProgram" }>["message"]) {
  state.commands.push({ type: "toProgram", message });
}
