/**
 * What the scheduler remembers: jobs of operators, operators with their queues, tasks, workers. Plain data; every
 * transition is in the file named after what happens (flow, tasks, room, dispatch, stall, job).
 *
 *   JobState ─▶ OperatorState ─▶ Edge ─▶ OperatorState … ─▶ Edge ─▶ the program
 *                    │
 *                    └─▶ TaskState ─▶ WorkerState
 */
import type { WireError } from "../errors/index.ts";
import type {
  ArenaRange,
  BlockId,
  BlockRef,
  Bytes,
  HandedOver,
  JobId,
  JobSpec,
  Milliseconds,
  Operator,
  Split,
  TaskId,
  WorkerId,
} from "../protocol/index.ts";
import type { Holder, Ledger } from "../store/index.ts";
import type { OutputEstimate } from "./budget.ts";
import type { SeenColumns } from "./columns.ts";
import type { DevicePool } from "./devices.ts";
import type { Command } from "./events.ts";
import type { Fifo } from "./fifo.ts";
import type { Resources } from "./resources.ts";
import type { OperatorFigures } from "./stats.ts";

/** A block on its way through a job: made by `origin`, in use at so many places of the job. */
export interface Flow {
  readonly block: BlockRef;
  readonly origin: OperatorState;
  /** The worker that made it. */
  readonly maker: WorkerState | null;
  /** Null where the worker did not say. */
  readonly columns: readonly string[] | null;
  uses: number;
}

/** Rows of a block in a queue; `from` is the operator in whose undelivered output it counts. */
export interface Piece {
  readonly flow: Flow;
  readonly start: number;
  readonly end: number;
  readonly from: OperatorState;
}

export interface Edge {
  readonly producer: OperatorState;
  /** Null: the program. */
  readonly consumer: OperatorState | null;
  readonly queue: Fifo<Piece>;
  /** Nothing more will come. */
  ended: boolean;
  /** Nothing more is wanted. */
  closed: boolean;
}

/** Output of a task that is not the next one in plan order. */
export interface HeldBack {
  readonly pieces: Piece[];
  done: boolean;
}

export interface OperatorState {
  readonly job: JobState;
  readonly spec: Operator;
  /** Its place in the job: inputs before users, so a higher one is further downstream. */
  readonly depth: number;
  /** Takes its input and hands over its output in plan order. */
  readonly ordered: boolean;
  readonly isClass: boolean;
  /** Cores and memory that a task of it has while it runs. */
  readonly request: Resources;
  /** GPUs that a task of it, or an instance of its class, has. */
  readonly gpus: number;
  readonly inputs: Edge[];
  readonly consumers: Edge[];
  readonly figures: OperatorFigures;
  /** Of the first block that came in. */
  columns: SeenColumns | null;
  ended: boolean;

  /** Input that waits for a task, in the order in which it will be taken. */
  readonly ready: Fifo<Piece>;
  readyRows: number;
  /** Ordered: the input that is taken now; those behind it wait in their edges. */
  currentInput: number;
  /** Rows that a slice has seen. */
  rowsSeen: number;

  nextSplit: number;
  nextIndex: number;
  /** Tasks whose worker died, ascending by index. */
  readonly again: TaskState[];
  readonly running: Set<TaskState>;

  /** Ordered: the task whose output is next, and what later ones have handed over already. */
  head: number;
  readonly heldBack: Map<number, HeldBack>;
  heldBackBlocks: number;
  heldBackBytes: Bytes;
  /** Handed over, in order, and not yet taken by a consumer. */
  queuedBlocks: number;
  queuedBytes: Bytes;
  /** Reserved for it, or made by it and still in the job. */
  liveBytes: Bytes;
  largestReservation: Bytes;
  readonly estimate: OutputEstimate;
  /** The policy that holds it back at this moment. */
  heldBy: string | null;

  /** Who has been sent the operator, and who was asked to forget it and has not answered. */
  readonly workers: Set<WorkerState>;
  readonly retiring: Set<WorkerState>;
}

/**
 *            start                       reserve                    done
 *  formed ───────────▶ running ────────────────────▶ asking ┐   ┌─────────▶ gone
 *     ▲                 │ ▲ ▲           reserved            │   │ failed (dropped or fatal)
 *     └── again ◀───────┘ │ └───────────────────────────────┘   │
 *        (worker died)    └── cancelled: waits for an answer ───┘ cancelled
 */
export interface TaskState {
  readonly id: TaskId;
  readonly operator: OperatorState;
  readonly index: number;
  readonly input: Split;
  /** What of the input came through the job, and is released with the task. */
  readonly pieces: readonly Piece[];
  readonly holder: Holder;
  readonly handedOver: HandedOver[];
  readonly bytesIn: Bytes | null;
  /** What it has handed over. */
  bytesOut: Bytes;
  attempt: number;
  worker: WorkerState | null;
  /** GPUs that it sees. */
  devices: readonly string[];
  /** Room it waits for; `order` is the order of asking. */
  asking: { readonly bytes: Bytes; readonly order: number } | null;
  granted: ArenaRange | null;
  cancelledAt: Milliseconds | null;
}

/**
 * running ──▶ committing (files) ──▶ gone, told `finished`
 *    │             │
 *    └─────────────┴─▶ stopping (tasks end) ──▶ discarding (files) ──▶ gone, told `failed`, or nothing after a cancel
 */
export type JobPhase = "running" | "committing" | "stopping" | "discarding" | "gone";

export interface JobState {
  readonly id: JobId;
  readonly spec: JobSpec;
  readonly holder: Holder;
  readonly operators: OperatorState[];
  /** How many of them hand over blocks. */
  readonly blockOperators: number;
  readonly startedAt: Milliseconds;
  /** The order of starting, and of being served: the job served longest ago goes first. */
  readonly order: number;
  lastServed: number;
  /** Of the first block that went out to the program. */
  columns: SeenColumns | null;
  phase: JobPhase;
  /** The program knows how it ended, or does not want to know. */
  told: boolean;
  error: WireError | null;
  /** Output blocks that the program can take. */
  credit: number;
  /** Output blocks that the program has and will give back when it has read them. */
  unread: number;
  /** The program keeps all it gets. */
  isCollected: boolean;
  rowsDelivered: number;
  erroredTasks: number;
  runningTasks: number;
  /** Of these, those that wait for room. */
  askingTasks: number;
  changed: boolean;
  progressAt: Milliseconds;
  peakStoreBytes: Bytes;
  peakWorkerMemory: Bytes;
  peakSupervisorMemory: Bytes;
}

export type WorkerPhase = "starting" | "idle" | "busy" | "inspecting" | "stopping";

export interface WorkerState {
  readonly id: WorkerId;
  pid: number;
  /** Its memory limit. */
  readonly memory: Bytes;
  phase: WorkerPhase;
  task: TaskState | null;
  inspection: Inspection | null;
  killed: boolean;
  readonly knows: Set<OperatorState>;
  /** Classes' instances that have GPUs, by job and operator. */
  readonly instances: Map<string, { readonly devices: readonly string[]; readonly amount: number }>;
  lastDevices: readonly string[];
}

export interface Inspection {
  readonly request: number;
  readonly sql: string;
  attempts: number;
}

export interface ProgramAsk {
  readonly request: number;
  readonly bytes: Bytes;
  readonly order: number;
}

export interface State {
  readonly ledger: Ledger;
  /** Workers that the session keeps alive. */
  readonly slots: number;
  readonly heapLimit: Bytes | null;
  /** Tasks go where their input was made, if that worker is idle. */
  readonly localityWithOutput: boolean;
  /** Memory limit of a worker that was not raised. */
  readonly workerMemory: Bytes;
  /** Limits of workers that were ordered (raised.ts) and have not been started. */
  readonly raising: Bytes[];
  /** What tasks can have, and have. */
  readonly total: Resources;
  used: Resources;
  readonly devices: DevicePool;
  readonly jobs: Map<JobId, JobState>;
  readonly workers: Map<WorkerId, WorkerState>;
  /** Kept apart, so that finding one never means looking at all. */
  readonly idle: Set<WorkerState>;
  readonly asking: Set<TaskState>;
  readonly programAsks: ProgramAsk[];
  readonly programRanges: Map<Bytes, ArenaRange>;
  /** Whose output a block in the program's hands is. */
  readonly outputs: Map<BlockId, JobState[]>;
  readonly inspections: Inspection[];
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
}

export function send(state: State, worker: WorkerState, message: Extract<Command, { type: "toWorker" }>["message"]) {
  state.commands.push({ type: "toWorker", worker: worker.id, message });
}

export function tell(state: State, message: Extract<Command, { type: "toProgram" }>["message"]) {
  state.commands.push({ type: "toProgram", message });
}
