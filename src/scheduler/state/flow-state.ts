/**
 * What the room `flow` keeps and alone writes: an operator's input and output on their way, what is counted of them in
 * the store, what a task reads and has handed over, how far the program has read.
 */
import type { WireError } from "../../errors/index.ts";
import type { ArenaRange, BlockId, Bytes, HandedOver, Milliseconds, Operator } from "../../protocol/index.ts";
import type { BlockColumns, SeenColumns } from "./columns.ts";
import { OutputEstimate } from "./estimate.ts";
import { Fifo } from "./fifo.ts";
import type { JobState } from "./job-state.ts";
import type { Edge, Fed, Feed, HeldBack, Piece, TaskSource } from "./pieces.ts";

/** Flow state of the session. */
export interface FlowState {
  readonly lost: Map<BlockId, { readonly error: WireError; isBeingMade: boolean }>;
  /** The job of each output block that the program has. */
  readonly outputs: Map<BlockId, JobState[]>;
  /** Blocks that the program reads and has not copied. */
  unreadBytes: Bytes;
}

export function newFlowState(): FlowState {
  return { lost: new Map(), outputs: new Map(), unreadBytes: 0 };
}

export interface OperatorEdges {
  readonly inputs: Edge[];
  /** Inputs that every task reads whole. */
  readonly broadcasts: Edge[];
  readonly consumers: Edge[];
}

export function newOperatorEdges(): OperatorEdges {
  return { inputs: [], broadcasts: [], consumers: [] };
}

export interface OperatorInput {
  /** Input that waits for a task, in the order in which it will be taken. */
  readonly ready: Fifo<Piece>;
  readyRows: number;
  readyBytes: Bytes;
  /** The input of one task takes no more of the store than this, if it is more than one block. */
  readonly maxBundle: Bytes;
  /** The blocks so far of the inputs that every task reads whole. */
  readonly broadcast: readonly Piece[][];
  /** Null: its tasks have all of their input when they start. */
  readonly fed: Fed | null;
  /** Columns of the first input block, by table: fed tables from 0 up, broadcast tables from -1 down. */
  readonly columns: Map<number, SeenColumns>;
  /** The payloads of its functions. */
  readonly payloads: readonly BlockId[];
  /** Ordered: the input that is read now; later inputs wait in their edges. */
  currentInput: number;
  /** Rows that a slice has seen. */
  rowsSeen: number;
  nextSplit: number;
  nextIndex: number;
}

export function newOperatorInput(spec: Operator, fed: Fed | null, maxBundle: Bytes): OperatorInput {
  const isTasks = spec.kind === "tasks";
  return {
    ready: new Fifo<Piece>(),
    readyRows: 0,
    readyBytes: 0,
    maxBundle,
    broadcast: isTasks ? spec.broadcast.map(() => []) : [],
    fed,
    columns: new Map(),
    payloads: isTasks ? spec.steps.flatMap((step) => (step.kind === "function" ? step.payload.id : [])) : [],
    currentInput: 0,
    rowsSeen: 0,
    nextSplit: 0,
    nextIndex: 0,
  };
}

export interface OperatorOutput {
  /** Ordered: the task whose output is next, and what later ones have handed over already. */
  head: number;
  readonly heldBack: Map<number, HeldBack>;
  heldBackBlocks: number;
  heldBackBytes: Bytes;
  /** Handed over, in order, and not yet taken by a consumer. */
  queuedBlocks: number;
  /** Columns of the last block that it made. */
  lastColumns: BlockColumns | null;
}

export function newOperatorOutput(): OperatorOutput {
  return { head: 0, heldBack: new Map(), heldBackBlocks: 0, heldBackBytes: 0, queuedBlocks: 0, lastColumns: null };
}

/** An operator's bytes in the store. */
export interface OperatorBudget {
  /** Reserved for it, or made by it and still in the job. */
  liveBytes: Bytes;
  /** The part of these bytes that is reserved and not written yet, and the number of tasks it is for. */
  grantedBytes: Bytes;
  grantedTasks: number;
  largestReservation: Bytes;
  readonly estimate: OutputEstimate;
}

export function newOperatorBudget(): OperatorBudget {
  return { liveBytes: 0, grantedBytes: 0, grantedTasks: 0, largestReservation: 0, estimate: new OutputEstimate() };
}

/** A job's output on its way to the program. */
export interface JobOutput {
  /** Output blocks that the program can take. */
  credit: number;
  /** Output blocks that the program has and will give back when it has read them. */
  unread: number;
  /** The program has so many of them that it must give some back before it gets more. */
  readerIsFull: boolean;
  /** When the program last got a block of the job, gave one back, or asked for more. */
  movedAt: Milliseconds;
  rowsDelivered: number;
  /** Columns of the first block that went to the program, as table 0. */
  readonly columns: Map<number, SeenColumns>;
}

export function newJobOutput(now: Milliseconds): JobOutput {
  return { credit: 0, unread: 0, readerIsFull: false, movedAt: now, rowsDelivered: 0, columns: new Map() };
}

export interface TaskInput {
  readonly source: TaskSource;
  /** Input that came through the job, and is released with the task. */
  readonly pieces: readonly Piece[];
  /** Null: it has all of its input when it starts. */
  readonly feed: Feed | null;
  /**
   * The blocks of its input, of its broadcast tables, the payloads of its functions; where each lies while it is
   * pinned.
   */
  readonly blocks: readonly BlockId[];
  readonly pins: (ArenaRange | null)[];
}

export interface TaskOutput {
  /** Output that is handed on when the task is done. */
  readonly hidden: Piece[];
  readonly handedOver: HandedOver[];
  /** Bytes of the task's input if known; the output is estimated from them. */
  readonly bytesIn: Bytes | null;
  /** What it has handed over. */
  bytesOut: Bytes;
  /** The room for its next block. */
  granted: ArenaRange | null;
}

export function newTaskOutput(bytesIn: Bytes | null, handedOver: HandedOver[]): TaskOutput {
  return { hidden: [], handedOver, bytesIn, bytesOut: 0, granted: null };
}

export interface TaskCancel {
  /** Null: it is not cancelled. */
  at: Milliseconds | null;
  /** Cancelled only to make room: it is run again later. */
  standsBack: boolean;
}

export function newTaskCancel(): TaskCancel {
  return { at: null, standsBack: false };
}
