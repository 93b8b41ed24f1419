/**
 * Blocks on their way through a job: where they wait, what has been gathered of them, what a task was fed. Plain data.
 */

import type { BlockRef, Bytes, Gather, HandedOver, Split } from "../../protocol/index.ts";
import type { BlockColumns } from "./columns.ts";
import type { Fifo } from "./fifo.ts";
import type { OperatorState } from "./operator-state.ts";
import type { WorkerState } from "./worker-state.ts";

/** A block on its way through a job: made by `origin`, in use at so many places of the job. */
export interface Flow {
  readonly block: BlockRef;
  readonly origin: OperatorState;
  /** The worker that made it. */
  readonly maker: WorkerState | null;
  /** Null where the worker did not say. */
  readonly columns: BlockColumns | null;
  readonly recipe: Recipe;
  /** Only for an operator that scatters its rows. */
  readonly partition: number | null;
  /** The block waits without flowing: it is output of a wide task. It goes to disk before blocks that flow. */
  readonly rests: boolean;
  uses: number;
}

/** What a task reads. */
export type TaskSource = Split | { readonly kind: "fed" };

/** Files that are named of a task: one may read thousands. */
const MOST_FILES = 20;

/** What a task reads from outside; the first ones where they are many. */
export function filesRead(source: TaskSource): readonly string[] {
  return source.kind === "sql" || source.kind === "arrow" ? source.files.slice(0, MOST_FILES) : [];
}

/** The task that made a block, and the block's index in its output: enough to make the block again. */
interface Recipe {
  readonly input: TaskSource;
  readonly index: number;
  readonly handedOver: readonly HandedOver[];
  readonly number: number;
  /** The most rows of a call. */
  readonly batchSize: number | null;
  /** The largest block that it made, if smaller than the operator says. */
  readonly blockBytes: Bytes | null;
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

/** A piece for a table of a fed task. It is kept, and fed again if need be, until the task is over. */
export interface FedPiece {
  readonly table: number;
  readonly piece: Piece;
  /** The piece no longer flows, so it does not count as undelivered output of its producer. */
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
  /** What it has been sent. */
  bytes: Bytes;
  /** Sent, pinned, and not read yet, by message. */
  readonly inFlight: FedPiece[][];
  ended: boolean;
}

/** Output of a task that is not the next one in plan order. */
export interface HeldBack {
  readonly pieces: Piece[];
  done: boolean;
}
