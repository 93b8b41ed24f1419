/**
 * What the room `memory` keeps and alone writes: limits and readings, which workers need attention, a worker's memory
 * and its past, the lease of the wide kernel, what it spilled for a job.
 */
import {
  type Allotment,
  type AllotmentPlan,
  allot,
  GROUND,
  LeastOverTime,
  type MemoryPool,
  type Standing,
} from "../../memory/index.ts";
import type {
  Bytes,
  HeapUse,
  MemoryKinds,
  Milliseconds,
  NodeMemory,
  OperatorId,
  ProcessMemory,
  WorkerReading,
} from "../../protocol/index.ts";
import type { WorkerState } from "./worker-state.ts";

/** What idle workers make room for: the wide kernel, or a task that must run alone. */
export type ParkedFor = "kernel" | "task";

/** Memory state of the session. */
export interface MemoryState {
  /** Memory limit of a worker that was not raised, and of its heap. */
  workerMemory: Bytes;
  heapLimit: Bytes | null;
  /** Resident bytes of a worker's own blocks above which the least recently used of them leave; null: no such bound. */
  managedTarget: Bytes | null;
  /** The last reading of the node and of the processes that are not workers. */
  node: NodeMemory | null;
  /** The memory used on the node in the last seconds, as pairs of time and bytes, oldest first. */
  readonly nodeCurve: (readonly [Milliseconds, Bytes])[];
  processes: { readonly supervisor: ProcessMemory; readonly program: ProcessMemory };
  readonly paused: Set<WorkerState>;
  /** Workers whose memory needs attention: checked with every event, the others only at a reading. */
  readonly heavy: Set<WorkerState>;
  /** Workers that were started with another memory limit than they have now. */
  readonly unfit: Set<WorkerState>;
  /** Notices that the user is given only once. */
  readonly warned: Set<string>;
  /** Limits of workers that were ordered (raised.ts) and have not been started; the raised workers. */
  readonly raising: Bytes[];
  readonly raised: Set<WorkerState>;
  /** Workers that were ordered to end to free memory (ending.ts), and are not gone yet. */
  readonly ending: Set<WorkerState>;
  /** Null: memory is not counted. */
  readonly lease: LeaseState | null;
  /**
   * What the node used at the last reading besides the workers and the store: the program, the supervisor, the wide
   * kernel, processes outside the session. Null: not measured yet.
   */
  others: Bytes | null;
  /** What idle workers have ended for (parking.ts). */
  readonly parkedFor: Set<ParkedFor>;
  /** What the session may have of the node at this moment. */
  readonly share: ShareState;
}

interface ShareState {
  /** What the session has alone on its node; null: memory is not counted. */
  plan: AllotmentPlan | null;
  /** What other sessions leave. */
  given: Bytes;
  /** The sessions of the user on the node, with this one; whether the user was told of others. */
  sessions: number;
  isTold: boolean;
  /** What the program and the supervisor hold beyond their part of the plan. */
  program: Bytes;
  inForce: Allotment;
  /** The program waits until there is room for it (program-memory.ts). */
  ask: { readonly request: number; readonly bytes: Bytes; readonly since: Milliseconds } | null;
  /** Since when the program has left too little for any work; null: it leaves enough. */
  hopelessSince: Milliseconds | null;
}

const NO_LIMITS: Allotment = {
  memory: Number.POSITIVE_INFINITY,
  store: Number.POSITIVE_INFINITY,
  workers: Number.POSITIVE_INFINITY,
  limit: null,
  heap: null,
  block: null,
};

function newShare(plan: AllotmentPlan | null): ShareState {
  return {
    plan,
    given: Number.POSITIVE_INFINITY,
    sessions: 1,
    isTold: false,
    program: 0,
    inForce: plan === null ? NO_LIMITS : allot(plan, plan.memory),
    ask: null,
    hopelessSince: null,
  };
}

const NOTHING: ProcessMemory = { private: 0, shared: 0, children: 0 };

export function newMemoryState(
  limits: Pick<MemoryState, "workerMemory" | "heapLimit" | "managedTarget">,
  pool: MemoryPool | null,
  plan: AllotmentPlan | null,
): MemoryState {
  return {
    ...limits,
    node: null,
    nodeCurve: [],
    processes: { supervisor: NOTHING, program: NOTHING },
    paused: new Set(),
    heavy: new Set(),
    unfit: new Set(),
    warned: new Set(),
    raising: [],
    raised: new Set(),
    ending: new Set(),
    lease:
      pool === null ? null : { pool, told: null, buffers: null, held: { buffers: 0, beside: [] }, reclaimed: "no" },
    others: null,
    parkedFor: new Set(),
    share: newShare(plan),
  };
}

/** What the wide kernel has at this moment. */
interface LeaseState {
  readonly pool: MemoryPool;
  /** Null: the kernel has not been told a lease yet. */
  told: Bytes | null;
  /** What the kernel may hold in buffers, as last told; null: not told yet, or no limit. */
  buffers: Bytes | null;
  readonly held: KernelHeld;
  /** The store needs what it has lent, and lends no more: while the task is fed, or for as long as it runs. */
  reclaimed: "no" | "feeding" | "for good";
}

/** What the wide kernel was seen to hold for its present task. */
interface KernelHeld {
  /** The most buffers. */
  buffers: Bytes;
  /** What its process had beside them, by its last readings, the newest first. */
  beside: readonly Bytes[];
}

/** A worker's private memory as last known: by readings, and by what the worker itself says. */
interface OwnMemory {
  now: Bytes | null;
  /** The least that it was known to have, or what a trim has left. */
  ground: Bytes | null;
  /** What it had when its present task began. */
  before: Bytes | null;
  /** The operator whose tasks alone have left what is above the ground, as `job/operator`; null: several, or none. */
  leftBy: string | null;
  /** It was trimmed since its last task. */
  isTrimmed: boolean;
}

export interface WorkerMemory {
  /** Its memory limit, and the one that its process was started with. */
  limit: Bytes;
  readonly startedWith: Bytes;
  /** Its last reading, and when; null: never measured. */
  reading: WorkerReading | null;
  readAt: Milliseconds;
  readonly own: OwnMemory;
  /** The last reading by kind; what is unmanaged, over time. */
  kinds: MemoryKinds;
  readonly unmanaged: LeastOverTime;
  /** What its kernel holds in memory for a fed task, as it last said. */
  kernelBytes: Bytes;
  /**
   * Size of the worker data, and whether it frees memory when asked. `hasNothingToEvict`: it had nothing more to free
   * when it was last asked; since then its size is the same and no task has ended. Null: there is no worker data.
   */
  workerData: { readonly bytes: Bytes; readonly evicts: boolean; readonly hasNothingToEvict: boolean } | null;
  /** Its size at the last reading of memory: growth since then is in no reading yet. */
  workerDataRead: Bytes;
  /** Its step of the ladder. */
  standing: Standing;
  paused: { readonly since: Milliseconds; isReported: boolean } | null;
  /** Why the scheduler chose it to be ended; null: it did not. */
  endedFor: string | null;
  /** Memory of processes outside the session, if these filled the node and the worker was ended for that. */
  foreign: Bytes | null;
}

/** `recent`: how long unmanaged memory counts as recent. */
export function newWorkerMemory(limit: Bytes, recent: Milliseconds): WorkerMemory {
  return {
    limit,
    startedWith: limit,
    reading: null,
    readAt: 0,
    own: { now: null, ground: null, before: null, leftBy: null, isTrimmed: false },
    kinds: { process: 0, managed: 0, unmanaged: 0, recent: 0, spilled: 0 },
    unmanaged: new LeastOverTime(recent),
    kernelBytes: 0,
    workerData: null,
    workerDataRead: 0,
    standing: GROUND,
    paused: null,
    endedFor: null,
    foreign: null,
  };
}

/** What a worker keeps from task to task, and what is done about it (recycle.ts). */
export interface WorkerRecycling {
  readonly history: WorkerHistory;
  readonly heap: HeapHistory;
  /** The worker gets no task until it is known whether a trim has helped. */
  trimming: Trimming | null;
}

export function newWorkerRecycling(): WorkerRecycling {
  return {
    history: {
      first: null,
      after: [],
      tasks: 0,
      noted: 0,
      operator: null,
      isMixed: false,
      settled: null,
    },
    heap: { now: null, first: null, settled: null, kept: 0, patience: 1, waits: 0 },
    trimming: null,
  };
}

/** A worker's private memory over time. */
export interface WorkerHistory {
  /** When the worker was first measured. */
  first: Bytes | null;
  /** Private memory after its last tasks, the oldest first. */
  readonly after: Bytes[];
  /** Tasks that have left it, and how many of them are in the list above. */
  tasks: number;
  noted: number;
  /** The operator of the last task, and whether there were others. */
  operator: string | null;
  isMixed: boolean;
  /** Memory after the first task of the latest of its classes; null: not measured yet. */
  settled: Bytes | null;
}

export type TrimReason = "paused" | "unmanaged" | "growing" | "heap" | "room";

export interface Trimming {
  readonly reason: TrimReason;
  readonly since: Milliseconds;
  answeredAt: Milliseconds | null;
  /** A trim did not help, and replacing the worker would not help either. */
  isVain: boolean;
}

interface HeapHistory {
  /** As last reported; null: never reported. */
  now: HeapUse | null;
  /** What it had after its first task. */
  first: Bytes | null;
  /**
   * Heap after its first task, or after the first task of its latest class, less what trims have freed; null: unknown.
   */
  settled: Bytes | null;
  /** What the last trim left. */
  kept: Bytes;
  /** How many tasks go by after a trim, and how many of them are still to come. */
  patience: number;
  waits: number;
}

export interface JobMemory {
  /** The most that kernels have had on disk for each operator. */
  readonly kernelSpilled: Map<OperatorId, Bytes>;
}

export function newJobMemory(): JobMemory {
  return { kernelSpilled: new Map() };
}
