/**
 * What a session looks like to whoever reads its events: what there is now, and totals of what has been. Plain data
 * with maps; `snapshotOf` and `stateOf` turn it into JSON and back.
 */
import type {
  BlockId,
  BlockState,
  Bytes,
  JobId,
  JobPhase,
  Milliseconds,
  NodeMemory,
  OperatorPlan,
  ProcessMemory,
  RecordedEvent,
  SessionFact,
  TaskId,
  TaskPhase,
  ToldError,
  WorkerId,
  WorkerMemoryReading,
  WorkerPhase,
} from "../protocol/index.ts";
import type { Timeline } from "./timeline.ts";

export interface SessionState {
  /** The time of the last event. */
  at: Milliseconds;
  /** Null before its first event was read. */
  session: Extract<SessionFact, { type: "sessionStarted" }> | null;
  /** It was closed; a session that was killed never says so. */
  hasEnded: boolean;
  readonly workers: Map<WorkerId, WorkerView>;
  /** Those that run and the last that have ended, in the order of their start. */
  readonly jobs: Map<JobId, JobView>;
  /** How many have ended and are not kept among the jobs. */
  jobsBefore: number;
  /** Those that are not over. */
  readonly tasks: Map<TaskId, TaskView>;
  readonly blocks: Map<BlockId, BlockView>;
  readonly store: StoreTotals;
  memory: SessionReading | null;
  node: NodeMemory | null;
  /** Kills, retries, notices and other things that are worth a line, oldest first. */
  readonly happened: RecordedEvent[];
  /** How many of these are not kept. */
  happenedBefore: number;
  readonly timeline: Timeline;
}

export interface WorkerView {
  readonly id: WorkerId;
  readonly kind: "worker" | "wide";
  readonly limit: Bytes | null;
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
  readonly operators: OperatorTotals[];
}

/** Everything that tasks of an operator have come to. */
export interface OperatorTotals {
  readonly plan: OperatorPlan;
  ended: boolean;
  formed: number;
  running: number;
  tasksDone: number;
  failed: number;
  retries: number;
  oomRetries: number;
  rowsIn: number;
  rowsOut: number;
  bytesOut: Bytes;
  wall: Milliseconds;
  longest: Milliseconds;
  cpu: Milliseconds;
  errored: number;
  peakMemory: Bytes;
  blocks: number;
  blockBytes: Bytes;
  heldBy: string | null;
  heldSince: Milliseconds;
  /** Milliseconds for which it was held back, by policy; the present one counts when it ends. */
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
  /** The program has it. */
  isDelivered: boolean;
}

/** Since the start of the session; bytes of blocks before compression. */
export interface StoreTotals {
  made: number;
  madeBytes: Bytes;
  freed: number;
  spilled: number;
  spilledBytes: Bytes;
  restored: number;
  restoredBytes: Bytes;
  lost: number;
}

export interface SessionReading {
  readonly at: Milliseconds;
  readonly supervisor: ProcessMemory;
  readonly program: ProcessMemory;
  readonly store: { readonly resident: Bytes; readonly onDisk: Bytes; readonly files: Bytes };
}

/** The same as JSON. */
export interface SessionSnapshot extends Omit<SessionState, "workers" | "jobs" | "tasks" | "blocks"> {
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
    },
    memory: null,
    node: null,
    happened: [],
    happenedBefore: 0,
    timeline: { width: 1_000, from: 0, buckets: [] },
  };
}

/** Shares what the state has: to be written or sent at once. */
export function snapshotOf(state: SessionState): SessionSnapshot {
  return {
    ...state,
    workers: [...state.workers.values()],
    jobs: [...state.jobs.values()],
    tasks: [...state.tasks.values()],
    blocks: [...state.blocks.values()],
  };
}

/** The snapshot is the state's from now on. */
export function stateOf(snapshot: SessionSnapshot): SessionState {
  return {
    ...snapshot,
    workers: byId(snapshot.workers),
    jobs: byId(snapshot.jobs),
    tasks: byId(snapshot.tasks),
    blocks: byId(snapshot.blocks),
  };
}

/** The one operator of the job; operators have the numbers of their places, but for what a test makes up. */
export function operatorOf(state: SessionState, job: JobId, operator: number): OperatorTotals | undefined {
  return state.jobs.get(job)?.operators.find(({ plan }) => plan.id === operator);
}

function byId<Id, View extends { readonly id: Id }>(views: readonly View[]): Map<Id, View> {
  return new Map(views.map((view) => [view.id, view]));
}
