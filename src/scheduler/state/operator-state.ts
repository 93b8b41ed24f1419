/**
 * An operator of a running job: its queues, its tasks, its bytes in the store, the workers that have it. Plain data.
 */

import type { BlockId, Bytes, LearnedNeed, Operator } from "../../protocol/index.ts";
import type { OutputEstimate } from "../flow/index.ts";
import type { BlockColumns, SeenColumns } from "./columns.ts";
import type { Fifo } from "./fifo.ts";
import type { Edge, Fed, HeldBack, Piece } from "./flow-state.ts";
import type { JobState } from "./job-state.ts";
import type { Resources } from "./resources.ts";
import type { OperatorFigures } from "./stats.ts";
import type { TaskState } from "./task-state.ts";
import type { WorkerState } from "./worker-state.ts";

export interface OperatorState {
  readonly job: JobState;
  readonly spec: Operator;
  /** Its place in the job: inputs before users, so a higher one is further downstream. */
  readonly depth: number;
  /** Takes its input and hands over its output in plan order. */
  readonly ordered: boolean;
  readonly isClass: boolean;
  /** Cores and memory of a running task of it: what its functions ask for, and what was learned. */
  request: Resources;
  /** Null: no task of it has run out of memory. */
  learned: LearnedNeed | null;
  /** The kernel ran out of memory in one of its tasks: a task that runs alone gets more for its kernel than usual. */
  kernelRanOut: boolean;
  /** GPUs that a task of it, or an instance of its class, has. */
  readonly gpus: number;
  readonly inputs: Edge[];
  /** Inputs that every task reads whole, and their blocks so far. */
  readonly broadcasts: Edge[];
  readonly broadcast: readonly Piece[][];
  /** Null: its tasks have all of their input when they start. */
  readonly fed: Fed | null;
  readonly consumers: Edge[];
  readonly figures: OperatorFigures;
  /** Columns of the first input block, by table: fed tables from 0 up, broadcast tables from -1 down. */
  readonly columns: Map<number, SeenColumns>;
  /** Columns of the last block that it made. */
  lastColumns: BlockColumns | null;
  ended: boolean;

  /** Input that waits for a task, in the order in which it will be taken. */
  readonly ready: Fifo<Piece>;
  readyRows: number;
  readyBytes: Bytes;
  /** The input of one task takes no more of the store than this, if it is more than one block. */
  readonly maxBundle: Bytes;
  /** The payloads of its functions. */
  readonly payloads: readonly BlockId[];
  /** Ordered: the input that is read now; later inputs wait in their edges. */
  currentInput: number;
  /** Rows that a slice has seen. */
  rowsSeen: number;

  nextSplit: number;
  nextIndex: number;
  /** Tasks whose worker died, that stood back, or whose input has come from disk, ascending by index. */
  readonly again: TaskState[];
  /** Tasks whose input is on disk, or on its way from there. */
  readonly fetching: Set<TaskState>;
  /** Tasks that have stood back, until the task they made way for is over. */
  readonly aside: Set<TaskState>;
  /** Tasks that ran out of memory and wait a while before they run again. */
  readonly resting: Set<TaskState>;
  /** By index. */
  readonly running: Map<number, TaskState>;
  /** Running to make lost blocks again. */
  readonly repairing: Set<TaskState>;
  /** Tasks of both sets that wait for room, in the order of asking, and the room they wait for. */
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
  /** The part of these bytes that is reserved and not written yet, and the number of tasks it is for. */
  grantedBytes: Bytes;
  grantedTasks: number;
  largestReservation: Bytes;
  readonly estimate: OutputEstimate;
  /** The policy that holds it back at this moment. */
  heldBy: string | null;

  /**
   * Workers that have been sent the operator; the idle ones among them; those that were asked to forget it and have not
   * answered.
   */
  readonly workers: Set<WorkerState>;
  readonly idle: Set<WorkerState>;
  readonly retiring: Set<WorkerState>;
}
