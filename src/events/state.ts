/**
 * The state of a session as readers of its events see it: what exists now, and totals of what was. Plain data with
 * maps; `snapshotOf` and `stateOf` turn it into JSON and back.
 */
import type {
  Appetite,
  BlockId,
  BlockState,
  ByReference,
  Bytes,
  Growth,
  JobId,
  JobPhase,
  LearnedNeed,
  Milliseconds,
  NodeMemory,
  OperatorPlan,
  ProcessMemory,
  RecordedEvent,
  SessionFact,
  TaskFigures,
  TaskId,
  TaskPhase,
  TaskProgress,
  ToldError,
  WorkerId,
  WorkerMemoryReading,
  WorkerPhase,
} from "../protocol/index.ts";
import type { Timeline } from "./timeline.ts";

export interface SessionState {
  /** The time of the last event. */
  at: Milliseconds;
  /** Null before the first event. `workerMemory` is the limit in force. */
  session: Extract<SessionFact, { type: "sessionStarted" }> | null;
  /** True when the session was closed. A killed session stays false. */
  hasEnded: boolean;
  readonly workers: Map<WorkerId, WorkerView>;
  /** Running jobs and the newest ended ones, in the order of their start. */
  readonly jobs: Map<JobId, JobView>;
  /** Those of them that run. */
  readonly running: Set<JobView>;
  /** Ended jobs that are no longer kept. */
  jobsBefore: number;
  /** Tasks that have not ended. */
  readonly tasks: Map<TaskId, TaskView>;
  readonly blocks: Map<BlockId, BlockView>;
  readonly store: StoreTotals;
  memory: SessionReading | null;
  node: NodeMemory | null;
  /** Kills, retries, notices and other events that deserve a line, oldest first. */
  readonly happened: RecordedEvent[];
  /** How many of these events are no longer kept. */
  happenedBefore: number;
  readonly timeline: Timeline;
}

export interface WorkerView {
  readonly id: WorkerId;
  readonly kind: "worker" | "wide";
  limit: Bytes | null;
  readonly startedAt: Milliseconds;
  pid: number | null;
  phase: WorkerPhase;
  since: Milliseconds;
  task: TaskId | null;
  reading: WorkerMemoryReading | null;
}

export interface JobView {
  readonly id: JobId;
  readonly startedAt: Milliseconds;
  phase: JobPhase;
  endedAt: Milliseconds | null;
  outcome: "finished" | "failed" | "cancelled" | null;
  error: ToldError | null;
  rows: number | null;
  rowsDelivered: number;
  /** Bytes of blocks that the store wrote to disk, and read back, while the job ran. */
  spilledBytes: Bytes;
  restoredBytes: Bytes;
  /** The most that the wide kernel had on disk for it. */
  kernelSpilled: Bytes;
  /** Peaks while it ran: of each kind of process, of the blocks in memory, of one worker's unmanaged memory. */
  peakWorkerMemory: Bytes;
  peakSupervisorMemory: Bytes;
  peakProgramMemory: Bytes;
  peakStoreBytes: Bytes;
  peakUnmanaged: Bytes;
  /** The most that this memory of one worker has grown since the first half of the job; null: the job is too short. */
  grownUnmanaged: Bytes | null;
  /** What this is found by, for each worker; empty when the job has ended. */
  growth: Record<WorkerId, Growth>;
  readonly operators: OperatorTotals[];
}

type Changing<Figures> = { -readonly [Name in keyof Figures]: Figures[Name] };

export interface SoFar {
  rowsIn: number;
  rowsOut: number;
  bytesOut: Bytes;
}

/** The least and the most of one task; both are 0 before the first. */
export interface Ends {
  min: number;
  max: number;
}

/** Everything that tasks of an operator have come to. Tasks that repair a lost block count only as retries. */
export interface OperatorTotals extends Changing<TaskFigures> {
  readonly plan: OperatorPlan;
  /** Other operators have taken its place. */
  isReplaced?: true;
  ended: boolean;
  /** Tasks that are known: those of the plan, and those that were formed of blocks. */
  tasks: number;
  formed: number;
  running: number;
  tasksDone: number;
  /** Tasks that were cut short after they had handed something over: their rows, bytes and time count. */
  tasksCut: number;
  failed: number;
  retries: number;
  oomRetries: number;
  /** What its tasks ask for, as learned from tasks that ran out of memory. */
  learned: LearnedNeed | null;
  /** What a task is expected to take; null: unknown. */
  appetite: Appetite | null;
  readonly ends: Readonly<Record<"rowsOut" | "bytesOut" | "wall" | "cpu", Ends>>;
  /** What running tasks have done so far; counted above when they are done. */
  readonly soFar: SoFar;
  /** Null before the operator's first task. */
  startedAt: Milliseconds | null;
  /** When a task last left its worker. */
  leftAt: Milliseconds;
  blocks: number;
  blockBytes: Bytes;
  /** Bytes of its blocks that were written to disk and read back, each time. */
  spilledBytes: Bytes;
  restoredBytes: Bytes;
  /** The most that the wide kernel had on disk for one of its tasks. */
  kernelSpilled: Bytes;
  byReference: ByReference | null;
  heldBy: string | null;
  heldSince: Milliseconds;
  /** Milliseconds held back, by policy. The current wait is added when it ends. */
  readonly heldBack: Record<string, Milliseconds>;
}

export interface TaskView {
  readonly id: TaskId;
  readonly job: JobId;
  readonly operator: number;
  readonly index: number;
  readonly bytesIn: Bytes | null;
  readonly isRepair: boolean;
  phase: TaskPhase;
  since: Milliseconds;
  startedAt: Milliseconds | null;
  worker: WorkerId | null;
  /**
   * What the task's current attempt has done so far, the share of its input that it has read, and its memory. Null
   * before its first report and the first reading of its worker.
   */
  soFar: TaskProgress | null;
}

export interface BlockView {
  readonly id: BlockId;
  readonly bytes: Bytes;
  readonly rows: number;
  readonly madeAt: Milliseconds;
  readonly job: JobId | null;
  readonly operator: number | null;
  readonly worker: WorkerId | null;
  state: BlockState;
  /** True once the program has the block. */
  isDelivered: boolean;
}

/** Totals since the start of the session, and what there is now. Bytes are block sizes before compression. */
interface StoreTotals {
  made: number;
  madeBytes: Bytes;
  freed: number;
  spilled: number;
  spilledBytes: Bytes;
  restored: number;
  restoredBytes: Bytes;
  lost: number;
  /** Of the blocks that are in memory now, and of those that are only on disk. */
  inMemory: Bytes;
  onDisk: Bytes;
}

interface SessionReading {
  readonly at: Milliseconds;
  readonly supervisor: ProcessMemory;
  readonly program: ProcessMemory;
  readonly store: { readonly resident: Bytes; readonly onDisk: Bytes; readonly files: Bytes };
  readonly workerLimit: Bytes | null;
  readonly limit: Bytes | null;
}

/** The state as JSON. */
export interface SessionSnapshot extends Omit<SessionState, "workers" | "jobs" | "running" | "tasks" | "blocks"> {
  readonly workers: readonly WorkerView[];
  readonly jobs: readonly JobView[];
  readonly tasks: readonly TaskView[];
  readonly blocks: readonly BlockView[];
}

export function emptyState(): SessionState {
  return {
    at: 0,
    session: null,
    hasEnded: false,
    workers: new Map(),
    jobs: new Map(),
    running: new Set(),
    jobsBefore: 0,
    tasks: new Map(),
    blocks: new Map(),
    store: {
      made: 0,
      madeBytes: 0,
      freed: 0,
      spilled: 0,
      spilledBytes: 0,
      restored: 0,
      restoredBytes: 0,
      lost: 0,
      inMemory: 0,
      onDisk: 0,
    },
    memory: null,
    node: null,
    happened: [],
    happenedBefore: 0,
    timeline: { width: 1_000, from: 0, buckets: [] },
  };
}

/** The snapshot shares data with the state, so write or send it at once. */
export function snapshotOf(state: SessionState): SessionSnapshot {
  const { running, ...rest } = state;
  return {
    ...rest,
    workers: [...state.workers.values()],
    jobs: [...state.jobs.values()],
    tasks: [...state.tasks.values()],
    blocks: [...state.blocks.values()],
  };
}

/** The state takes over the snapshot's data. */
export function stateOf(snapshot: SessionSnapshot): SessionState {
  return {
    ...snapshot,
    workers: byId(snapshot.workers),
    jobs: byId(snapshot.jobs),
    running: new Set(snapshot.jobs.filter(({ endedAt }) => endedAt === null)),
    tasks: byId(snapshot.tasks),
    blocks: byId(snapshot.blocks),
  };
}

/** Finds the job's operator. Ids usually equal positions, but tests may choose others. */
export function operatorOf(state: SessionState, job: JobId, operator: number): OperatorTotals | undefined {
  return state.jobs.get(job)?.operators.find(({ plan }) => plan.id === operator);
}

function byId<Id, View extends { readonly id: Id }>(views: readonly View[]): Map<Id, View> {
  return new Map(views.map((view) => [view.id, view]));
}
