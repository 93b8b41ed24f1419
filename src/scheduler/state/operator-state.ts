/** An operator of a running job: its queues, its tasks, what it is answerable for in the store, who has it. Plain data. */

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
  /** Cores and memory that a task of it has while it runs: what its functions ask for, and what was learned. */
  request: Resources;
  /** Null: no task of it has run out of memory. */
  learned: LearnedNeed | null;
  /** The kernel of a task had too little memory: that of one that is alone is given more than usual. */
  kernelRanOut: boolean;
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
