/**
 * What the scheduler remembers: jobs of operators, operators with their queues, tasks, workers. Plain data; every
 * transition is in the file named after what happens (flow, tasks, room, dispatch, stall, job).
 *
 *   JobState ─▶ OperatorState ─▶ Edge ─▶ OperatorState … ─▶ Edge ─▶ the program
 *                    │
 *                    └─▶ TaskState ─▶ WorkerState
 */
import type { WireError } from "../errors/index.ts";
import type { LeastOverTime, Standing } from "../memory/index.ts";
import type {
  ArenaRange,
  BlockId,
  BlockRef,
  Bytes,
  Gather,
  HandedOver,
  JobId,
  JobSpec,
  LearnedNeed,
  MemoryKinds,
  MemorySettings,
  Milliseconds,
  NodeMemory,
  Operator,
  ProcessMemory,
  Split,
  TaskId,
  WorkerId,
  WorkerReading,
} from "../protocol/index.ts";
import type { Holder, Ledger, SpillTotals } from "../store/index.ts";
import type { OutputEstimate } from "./budget.ts";
import type { SeenColumns } from "./columns.ts";
import type { DevicePool } from "./devices.ts";
import type { Command } from "./events.ts";
import type { Fifo } from "./fifo.ts";
import type { LeaseState } from "./lease.ts";
import type { Shortage } from "./need.ts";
import type { Past, Rest } from "./recycle.ts";
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
  readonly recipe: Recipe;
  /** Of an operator that scatters its rows. */
  readonly partition: number | null;
  /** It waits without flowing: output of a wide task, as much as it may be. It goes to disk before what flows does. */
  readonly rests: boolean;
  uses: number;
}

/** The task that made a block, and which of its blocks it is: what it takes to make it again. */
export interface Recipe {
  readonly input: TaskState["input"];
  readonly index: number;
  readonly handedOver: readonly HandedOver[];
  readonly number: number;
  /** Rows of a call at most. */
  readonly batchSize: number | null;
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
  /** Which of a fed consumer's tables it fills, or of its broadcast tables. */
  readonly table: number;
  readonly isBroadcast: boolean;
  readonly queue: Fifo<Piece>;
  /** Nothing more will come. */
  ended: boolean;
  /** Nothing more is wanted. */
  closed: boolean;
}

/** A piece for a table of a fed task. It is kept, fed again and again if need be, until the task is through. */
export interface FedPiece {
  readonly table: number;
  readonly piece: Piece;
  /** It does not flow any more: whoever made it has delivered. */
  isKept: boolean;
}

/** What a fed operator has gathered: by partition, or in one pool. */
export interface Fed {
  readonly gather: Gather;
  readonly pools: FedPiece[][];
  /** The input of each task to come, once all is there; null before. */
  inputs: FedPiece[][] | null;
}

/** How far a fed task has been fed. */
export interface Feed {
  readonly queue: FedPiece[];
  next: number;
  /** Sent, pinned, and not read yet, by message. */
  readonly inFlight: FedPiece[][];
  ended: boolean;
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
  /** Cores and memory that a task of it has while it runs: what its functions ask for, and what was learned. */
  request: Resources;
  /** Null: no task of it has run out of memory. */
  learned: LearnedNeed | null;
  /** GPUs that a task of it, or an instance of its class, has. */
  readonly gpus: number;
  readonly inputs: Edge[];
  /** Inputs that every task has whole, and their blocks as far as they have come. */
  readonly broadcasts: Edge[];
  readonly broadcast: readonly Piece[][];
  /** Null: its tasks have all of their input when they start. */
  readonly fed: Fed | null;
  readonly consumers: Edge[];
  readonly figures: OperatorFigures;
  /** Of the first block that came in, by table: those fed from 0 up, broadcast ones from -1 down. */
  readonly columns: Map<number, SeenColumns>;
  /** Of the last block that it made. */
  lastColumns: readonly string[];
  ended: boolean;

  /** Input that waits for a task, in the order in which it will be taken. */
  readonly ready: Fifo<Piece>;
  readyRows: number;
  readyBytes: Bytes;
  /** The input of one task takes no more of the store than this, if it is more than one block. */
  readonly maxBundle: Bytes;
  /** The payloads of its functions. */
  readonly payloads: readonly BlockId[];
  /** Ordered: the input that is taken now; those behind it wait in their edges. */
  currentInput: number;
  /** Rows that a slice has seen. */
  rowsSeen: number;

  nextSplit: number;
  nextIndex: number;
  /** Tasks whose worker died, that stood back, or whose input has come from disk, ascending by index. */
  readonly again: TaskState[];
  /** Tasks whose input is on disk, or on its way from there. */
  readonly fetching: Set<TaskState>;
  /** Tasks that have stood back, until the one is through for which they did. */
  readonly aside: Set<TaskState>;
  /** Tasks that ran out of memory and wait a while before they come again. */
  readonly resting: Set<TaskState>;
  /** By index. */
  readonly running: Map<number, TaskState>;
  /** Running to make lost blocks again. */
  readonly repairing: Set<TaskState>;
  /** Those of both that wait for room, in the order of asking, and what they wait for. */
  readonly asking: Set<TaskState>;
  askingBytes: Bytes;

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
  /** Of these, reserved and not written yet, and for how many tasks. */
  grantedBytes: Bytes;
  grantedTasks: number;
  largestReservation: Bytes;
  readonly estimate: OutputEstimate;
  /** The policy that holds it back at this moment. */
  heldBy: string | null;

  /** Who has been sent the operator; which of them are idle; who was asked to forget it and has not answered. */
  readonly workers: Set<WorkerState>;
  readonly idle: Set<WorkerState>;
  readonly retiring: Set<WorkerState>;
}

/**
 *              pins            start                       reserve                    done
 *  formed ─────────────▶ pinned ─────▶ running ────────────────────▶ asking ┐   ┌─────────▶ gone
 *     │ on disk            ▲            │ ▲ ▲           reserved            │   │ failed (dropped or fatal)
 *     └──────▶ fetching ───┘            │ │ └───────────────────────────────┘   │
 *                 ▲                     │ └── cancelled: waits for an answer ───┘ cancelled
 *                 └── again ◀───────────┘
 *                    (its worker died, or it stood back for another)
 */
export interface TaskState {
  readonly id: TaskId;
  readonly operator: OperatorState;
  readonly index: number;
  readonly input: Split | { readonly kind: "fed" };
  /** What of the input came through the job, and is released with the task. */
  readonly pieces: readonly Piece[];
  readonly feed: Feed | null;
  /** Output that nobody sees before the task is done. */
  readonly hidden: Piece[];
  /** The blocks of its input, of its broadcast tables, the payloads of its functions; where each lies while it is pinned. */
  readonly needs: readonly BlockId[];
  readonly pins: (ArenaRange | null)[];
  /** The lost block that it is to make again. */
  readonly repairs: Lost | null;
  readonly handedOver: HandedOver[];
  readonly bytesIn: Bytes | null;
  /** What it has handed over. */
  bytesOut: Bytes;
  attempt: number;
  /** The attempts among these that ran out of memory. */
  readonly shortages: Shortage[];
  /** What was learned before its present attempt began, and when that was; the batch is its own for good once it has handed over. */
  need: LearnedNeed | null;
  startedAt: Milliseconds;
  /** When it may come again. */
  restsUntil: Milliseconds;
  /** What it has of the session's cores and memory. */
  claimed: Resources;
  worker: WorkerState | null;
  /** GPUs that it sees. */
  devices: readonly string[];
  /** Room it waits for; `order` is the order of asking. */
  asking: { readonly bytes: Bytes; readonly order: number } | null;
  granted: ArenaRange | null;
  cancelledAt: Milliseconds | null;
  /** Cancelled only to make room: it is run again later. */
  standsBack: boolean;
}

/** A block whose file was damaged. */
export interface Lost {
  readonly flow: Flow;
  readonly error: WireError;
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
  /** For what is in its queues, for what its tasks have taken, and for what it reads. */
  readonly holder: Holder;
  readonly taskHolder: Holder;
  readonly inputHolder: Holder;
  /** For what waits without flowing: input that is kept in case a task dies, output of wide tasks. */
  readonly keptHolder: Holder;
  readonly operators: OperatorState[];
  /** How many of them hand over blocks. */
  readonly blockOperators: number;
  readonly startedAt: Milliseconds;
  /** The order of starting, and of being served: the job served longest ago goes first. */
  readonly order: number;
  lastServed: number;
  /** Of the first block that went out to the program, as table 0. */
  readonly columns: Map<number, SeenColumns>;
  phase: JobPhase;
  /** The program knows how it ended, or does not want to know. */
  told: boolean;
  error: WireError | null;
  /** Output blocks that the program can take. */
  credit: number;
  /** Output blocks that the program has and will give back when it has read them. */
  unread: number;
  /** It has so many of them that it gets no more before it has given some back. */
  readerIsFull: boolean;
  /** When the program last got something of it, gave something back, or asked for more. */
  movedAt: Milliseconds;
  rowsDelivered: number;
  erroredTasks: number;
  runningTasks: number;
  /** Of these, those that wait for room. */
  askingTasks: number;
  changed: boolean;
  progressAt: Milliseconds;
  peakStoreBytes: Bytes;
  /** The most that kernels have had on disk for it. */
  kernelSpilled: Bytes;
  /** The store's totals when the job began. */
  readonly spillsBefore: SpillTotals;
  peakWorkerMemory: Bytes;
  peakSupervisorMemory: Bytes;
  peakProgramMemory: Bytes;
}

export type WorkerPhase = "starting" | "idle" | "busy" | "inspecting" | "stopping";

export interface WorkerState {
  readonly id: WorkerId;
  pid: number;
  /** Its memory limit, and the one that its process was started with. */
  memory: Bytes;
  readonly startedWith: Bytes;
  phase: WorkerPhase;
  task: TaskState | null;
  /** What its kernel holds in memory for a fed task, as it last said. */
  kernelBytes: Bytes;
  /** What the user's container in it holds, and whether it lets go when it is asked; null: there is none. */
  container: { readonly bytes: Bytes; readonly evicts: boolean } | null;
  /** The reading after which its container was last asked to let go. */
  evictedAt: WorkerReading | null;
  /** What it was last seen to have, and when; null: nobody has looked yet. */
  reading: WorkerReading | null;
  readAt: Milliseconds;
  /** The same by kind; what is unmanaged, over time. */
  kinds: MemoryKinds;
  readonly unmanaged: LeastOverTime;
  /** Its step of the ladder. */
  standing: Standing;
  /** When something of it was last to leave memory, nothing could. */
  isDry: boolean;
  paused: { readonly since: Milliseconds; isReported: boolean } | null;
  readonly past: Past;
  /** It has no task, and gets none before it is known whether a trim has helped. */
  rest: Rest | null;
  /** Why it was chosen to be ended from here; null: it was not. */
  endedFor: string | null;
  inspection: Inspection | null;
  readonly knows: Set<OperatorState>;
  /** Classes' instances that have GPUs, by job and operator. */
  readonly instances: Map<string, { readonly devices: readonly string[]; readonly amount: number }>;
  lastDevices: readonly string[];
}

export interface Inspection {
  readonly request: number;
  readonly sql: string;
  readonly maxRetries: number;
  attempts: number;
}

export interface ProgramAsk {
  readonly request: number;
  readonly bytes: Bytes;
  readonly order: number;
}

export interface Refusal {
  readonly error: WireError;
  readonly since: Milliseconds;
  readonly retryAt: Milliseconds;
  /** It was a block that could not be read now, not one that could not be written. */
  readonly isReading: boolean;
}

/** What is known of the disks: writes and reads under way, and that they refuse, until they do not. */
export interface DiskState {
  /** Batches being written. */
  writing: number;
  readonly restoring: Set<BlockId>;
  refusal: Refusal | null;
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
  readonly workers: Map<WorkerId, WorkerState>;
  /** Kept apart, so that finding one never means looking at all; so are those with more memory than most. */
  readonly idle: Set<WorkerState>;
  readonly raised: Set<WorkerState>;
  /** Ordered to end for the sake of memory (ending.ts), and not gone yet. */
  readonly ending: Set<WorkerState>;
  /** The wide kernel, apart from the workers; `isOrdered`: it was asked for and has not begun to start. */
  readonly wide: { worker: WorkerState | null; isOrdered: boolean };
  /** Null: nobody counts memory. */
  readonly lease: LeaseState | null;
  /** Operators that have not ended and whose tasks compute alone. */
  readonly alone: Set<OperatorState>;
  /** The one of them that waits for others to end; none starts before it. */
  nextAlone: OperatorState | null;
  /** Workers have ended so that a task has the memory to itself (alone.ts). */
  isParked: boolean;
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
}

export function send(state: State, worker: WorkerState, message: Extract<Command, { type: "toWorker" }>["message"]) {
  state.commands.push({ type: "toWorker", worker: worker.id, message });
}

export function tell(state: State, message: Extract<Command, { type: "toProgram" }>["message"]) {
  state.commands.push({ type: "toProgram", message });
}
