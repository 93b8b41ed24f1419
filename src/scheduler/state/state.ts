/**
 * What the scheduler remembers: jobs of operators, operators with their queues, tasks, workers. Plain data; every
 * transition is in the file named after what happens (flow, tasks, room, dispatch, stall, job).
 *
 *   JobState ─▶ OperatorState ─▶ Edge ─▶ OperatorState … ─▶ Edge ─▶ the program
 *                    │
 *                    └─▶ TaskState ─▶ WorkerState
 */

import type { ResolvedSettings } from "../../config/index.ts";
import type { WireError } from "../../errors/index.ts";
import type { MemoryPool } from "../../memory/index.ts";
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
import type { WorkerStarts } from "../starts/index.ts";
import type { Collection } from "../store/index.ts";
import type { Command } from "./events.ts";
import type { JobState } from "./job-state.ts";
import type { OperatorState } from "./operator-state.ts";
import type { Resources } from "./resources.ts";
import type { EventStream } from "./stream.ts";
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
  /** The refusal was of a read, not of a write. */
  readonly isReading: boolean;
}

/** What is known of the disks: writes and reads under way, and whether they refuse. */
interface DiskState {
  /** Batches being written. */
  writing: number;
  readonly restoring: Set<BlockId>;
  refusal: Refusal | null;
  /** When the user was last told that work waits for the disks. */
  toldAt: Milliseconds;
  /** Room that is reserved for a task while it is being made: less urgent tasks cannot have it. */
  spokenFor: Bytes;
}

/** What the settings come to on this machine, as the program worked it out. */
export interface SchedulerOptions extends Omit<ResolvedSettings, "pool" | "memory"> {
  readonly arenaSize: Bytes;
  /** The pool of memory that the wide kernel gets its lease from; null: there are no leases. */
  readonly pool: MemoryPool | null;
  /** Thresholds and how they are measured; null: nothing is done about memory. */
  readonly memory: MemorySettings | null;
  /** Collect the event stream for `takeEvents`. */
  readonly streams: boolean;
}

export interface State {
  readonly options: SchedulerOptions;
  readonly ledger: Ledger;
  /** Resident bytes of a worker's own blocks above which the least recently used of them leave; null: no such bound. */
  managedTarget: Bytes | null;
  /** Workers that the session keeps alive. */
  readonly slots: number;
  /** How many workers beyond these there may be for a while. */
  readonly extraSlots: number;
  heapLimit: Bytes | null;
  /** Null: nothing is done about memory. */
  readonly memory: MemorySettings | null;
  /** The last reading of the node and of the processes that are not workers. */
  node: NodeMemory | null;
  processes: { readonly supervisor: ProcessMemory; readonly program: ProcessMemory };
  readonly paused: Set<WorkerState>;
  /** Workers whose memory needs attention: checked with every event, the others only at a reading. */
  readonly heavy: Set<WorkerState>;
  /** Workers that were started with another memory limit than they have now. */
  readonly unfit: Set<WorkerState>;
  /** Notices that the user is given only once. */
  readonly warned: Set<string>;
  /** Memory limit of a worker that was not raised. */
  workerMemory: Bytes;
  /** Limits of workers that were ordered (raised.ts) and have not been started. */
  readonly raising: Bytes[];
  /** Resources for tasks, and those in use. */
  readonly total: Resources;
  used: Resources;
  readonly devices: DevicePool;
  readonly jobs: Map<JobId, JobState>;
  /** Jobs that cannot go on, to be ended before anything else is decided. */
  readonly failing: JobState[];
  readonly workers: Map<WorkerId, WorkerState>;
  /** Idle workers have sets of their own, so that finding one is quick; raised workers, too. */
  readonly idle: Set<WorkerState>;
  readonly raised: Set<WorkerState>;
  /** Workers that were ordered to end to free memory (ending.ts), and are not gone yet. */
  readonly ending: Set<WorkerState>;
  /**
   * The wide kernel, apart from the workers; `isOrdered`: it was ordered and has not begun to start; `heldUpSince`:
   * since then another operator has waited for the kernel, while the kernel's task waits for input.
   */
  readonly wide: { worker: WorkerState | null; isOrdered: boolean; heldUpSince: Milliseconds | null };
  /** Null: memory is not counted. */
  readonly lease: LeaseState | null;
  /** Operators that have not ended and whose tasks compute alone. */
  readonly alone: Set<OperatorState>;
  /** The operator among them that waits for others to end; no task starts before it. */
  nextAlone: OperatorState | null;
  /** Workers have ended so that a task has the memory to itself (alone.ts). */
  isParked: boolean;
  /** Tasks in the phase `unplaced`: only within an event. */
  readonly unplaced: Set<TaskState>;
  /** Tasks of all jobs. */
  readonly resting: Set<TaskState>;
  /** Running tasks that are fed. */
  readonly feeding: Set<TaskState>;
  /** Operators with tasks that wait for room, and the number of these tasks. */
  readonly askers: Set<OperatorState>;
  askingTasks: number;
  readonly fetching: Set<TaskState>;
  /** The task for which others have stood back. */
  yieldsTo: TaskState | null;
  /** Lost blocks that are made again when a worker is free. */
  readonly repairs: TaskState[];
  readonly lost: Map<BlockId, { readonly error: WireError; isBeingMade: boolean }>;
  readonly disk: DiskState;
  readonly collection: Collection;
  readonly programAsks: ProgramAsk[];
  readonly programRanges: Map<Bytes, ArenaRange>;
  /** Blocks that the program reads and has not copied. */
  unreadBytes: Bytes;
  /** The job whose output a block with the program is. */
  readonly outputs: Map<BlockId, JobState[]>;
  readonly inspections: Inspection[];
  /** Cancelled tasks, the earliest first; without those whose worker is being killed. */
  readonly cancelling: Set<TaskState>;
  readonly commands: Command[];
  /** Null: nobody takes the events. */
  readonly stream: EventStream | null;
  readonly starts: WorkerStarts;
  now: Milliseconds;
  /** Counts events that need an order. */
  order: number;
  /** Since when nothing can go on for lack of a worker, or of room. */
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
