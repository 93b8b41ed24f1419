/**
 * What the scheduler remembers: jobs of operators, operators with their queues, tasks, workers. Plain data; every
 * transition is in the file named after what happens (flow, tasks, room, dispatch, stall, job).
 *
 *   JobState ─▶ OperatorState ─▶ Edge ─▶ OperatorState … ─▶ Edge ─▶ the program
 *                    │
 *                    └─▶ TaskState ─▶ WorkerState
 */

import type { WireError } from "../../errors/index.ts";
import type {
  ArenaRange,
  BlockId,
  Bytes,
  JobId,
  MemorySettings,
  Milliseconds,
  NodeMemory,
  ProcessMemory,
  WorkerId,
} from "../../protocol/index.ts";
import type { Ledger } from "../../store/index.ts";
import type { LeaseState } from "../memory/index.ts";
import type { DevicePool } from "../resources/index.ts";
import type { Collection } from "../store/index.ts";
import type { Command } from "./events.ts";
import type { JobState } from "./job-state.ts";
import type { OperatorState } from "./operator-state.ts";
import type { Resources } from "./resources.ts";
import type { TaskState } from "./task-state.ts";
import type { Inspection, WorkerState } from "./worker-state.ts";

export type * from "./flow-state.ts";
export type * from "./job-state.ts";
export type * from "./operator-state.ts";
export type * from "./task-state.ts";
export type * from "./worker-state.ts";

interface ProgramAsk {
  readonly request: number;
  readonly bytes: Bytes;
  readonly order: number;
}

interface Refusal {
  readonly error: WireError;
  readonly since: Milliseconds;
  readonly retryAt: Milliseconds;
  /** It was a block that could not be read now, not one that could not be written. */
  readonly isReading: boolean;
}

/** What is known of the disks: writes and reads under way, and that they refuse, until they do not. */
interface DiskState {
  /** Batches being written. */
  writing: number;
  readonly restoring: Set<BlockId>;
  refusal: Refusal | null;
  /** When the user was last told that work waits for the disks. */
  toldAt: Milliseconds;
  /** Room that is coming to somebody: not for those who wait with less right. */
  spokenFor: Bytes;
}

export interface State {
  readonly ledger: Ledger;
  /** Resident bytes of a worker's own blocks above which the least recently used of them leave; null: no such bound. */
  managedTarget: Bytes | null;
  /** Workers that the session keeps alive. */
  readonly slots: number;
  /** How many more there may be for a while. */
  readonly extraSlots: number;
  heapLimit: Bytes | null;
  /** Null: nothing is done about memory. */
  readonly memory: MemorySettings | null;
  /** The node as it was last seen, and those who are no workers. */
  node: NodeMemory | null;
  processes: { readonly supervisor: ProcessMemory; readonly program: ProcessMemory };
  readonly paused: Set<WorkerState>;
  /** Those whose memory asks for something: looked at with every event, and the others only when memory is read. */
  readonly heavy: Set<WorkerState>;
  /** Started with another memory limit than they have now. */
  readonly unfit: Set<WorkerState>;
  /** What the user was told once and for all. */
  readonly warned: Set<string>;
  /** Tasks go where their input was made, if that worker is idle. */
  readonly localityWithOutput: boolean;
  /** Memory limit of a worker that was not raised. */
  workerMemory: Bytes;
  /** Limits of workers that were ordered (raised.ts) and have not been started. */
  readonly raising: Bytes[];
  /** What tasks can have, and have. */
  readonly total: Resources;
  used: Resources;
  readonly devices: DevicePool;
  readonly jobs: Map<JobId, JobState>;
  /** Jobs that cannot go on, to be ended before anything else is decided. */
  readonly failing: JobState[];
  readonly workers: Map<WorkerId, WorkerState>;
  /** Kept apart, so that finding one never means looking at all; so are those with more memory than most. */
  readonly idle: Set<WorkerState>;
  readonly raised: Set<WorkerState>;
  /** Ordered to end for the sake of memory (ending.ts), and not gone yet. */
  readonly ending: Set<WorkerState>;
  /**
   * The wide kernel, apart from the workers; `isOrdered`: it was asked for and has not begun to start; `heldUpSince`: its
   * task waits for input, and since then another operator for the kernel.
   */
  readonly wide: { worker: WorkerState | null; isOrdered: boolean; heldUpSince: Milliseconds | null };
  /** Null: nobody counts memory. */
  readonly lease: LeaseState | null;
  /** Operators that have not ended and whose tasks compute alone. */
  readonly alone: Set<OperatorState>;
  /** The one of them that waits for others to end; none starts before it. */
  nextAlone: OperatorState | null;
  /** Workers have ended so that a task has the memory to itself (alone.ts). */
  isParked: boolean;
  /** Tasks that have no place yet: only within an event. */
  readonly unplaced: Set<TaskState>;
  /** Of all jobs. */
  readonly resting: Set<TaskState>;
  /** Running tasks that are fed. */
  readonly feeding: Set<TaskState>;
  /** Operators with tasks that wait for room, and the number of these tasks. */
  readonly askers: Set<OperatorState>;
  askingTasks: number;
  readonly fetching: Set<TaskState>;
  /** The task for which others have stood back. */
  yieldsTo: TaskState | null;
  /** Made again when a worker is free. */
  readonly repairs: TaskState[];
  readonly lost: Map<BlockId, { readonly error: WireError; isBeingMade: boolean }>;
  readonly disk: DiskState;
  readonly collection: Collection;
  readonly programAsks: ProgramAsk[];
  readonly programRanges: Map<Bytes, ArenaRange>;
  /** What the program has to read, and has not copied. */
  unreadBytes: Bytes;
  /** Whose output a block in the program's hands is. */
  readonly outputs: Map<BlockId, JobState[]>;
  readonly inspections: Inspection[];
  /** Cancelled, the one that has been for the longest time first; not those whose worker is being killed. */
  readonly cancelling: Set<TaskState>;
  readonly commands: Command[];
  /** Workers can not be started. */
  unavailable: WireError | null;
  now: Milliseconds;
  /** Counts events that need an order. */
  order: number;
  /** Since when nothing can go on for want of a worker, or of room. */
  slotStallSince: Milliseconds | null;
  storeStallSince: Milliseconds | null;
  /** When a worker was last found for a job that stood still beside others. */
  stillJobServedAt: Milliseconds;
}

export function send(state: State, worker: WorkerState, message: Extract<Command, { type: "toWorker" }>["message"]) {
  state.commands.push({ type: "toWorker", worker: worker.id, message });
}

export function tell(state: State, message: Extract<Command, { type: "toProgram" }>["message"]) {
  state.commands.push({ type: "toProgram", message });
}
