/**
 * What a worker's main thread sends to its profiling thread: facts from V8 and from our own sampling, in compiled
 * positions.
 */
import type { WorkerId } from "../protocol/index.ts";
import type { ProfileKind } from "./format.ts";

/**
 * A stack frame in compiled code. Lines and columns count from 0; those of the function's start are −1 when unknown.
 */
export interface RawFrame {
  readonly name: string;
  readonly url: string;
  readonly line: number;
  readonly column: number;
  readonly startLine: number;
  readonly startColumn: number;
}

export interface V8Node {
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
  readonly id: number;
  readonly children: readonly V8Node[];
}

/** V8's samples of the living objects. Later samples have higher ordinals. */
export interface V8Profile {
  readonly head: V8Node;
  readonly samples: readonly { readonly size: number; readonly nodeId: number; readonly ordinal: number }[];
}

export interface NewStack {
  readonly id: number;
  /** The constructor or method, such as `Buffer.alloc`. */
  readonly maker: string;
  /** The innermost frame first. */
  readonly frames: readonly RawFrame[];
}

export interface Snapshot {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly v8: V8Profile;
  /** Three numbers for each living buffer: its number, its stack, and the bytes that it stands for. */
  readonly buffers: Float64Array;
  /** Stacks that no earlier snapshot contained. */
  readonly stacks: readonly NewStack[];
  /** Number of the last buffer made. Numbers grow with time. */
  readonly lastBuffer: number;
  readonly heapUsed: number;
  /** Without pages that V8 has reserved and not touched: on Node 24, up to 90 MB for young objects. */
  readonly heapResident: number;
  readonly arrayBuffers: number;
  /** Bytes that the kernel is known to hold in memory. */
  readonly kernel: number;
  /** Resident bytes of the process, private and shared. */
  readonly resident: number;
  /** Milliseconds for which the functions had to wait. */
  readonly took: number;
}

/** The file of a recording, and its subject. */
export interface Recorded {
  readonly file: string;
  readonly kind: ProfileKind;
  readonly title: string;
  readonly worker: number;
}

/** An on-demand profile. Its result goes to the session's supervisor. */
export interface Demand {
  readonly request: number;
  readonly seconds: number;
  /** The inspector was opened for this profile and must be closed after it. */
  readonly woken: boolean;
}

export type ToThread =
  | {
      readonly type: "open";
      readonly id: number;
      readonly recorded: Recorded;
      readonly snapshot: Snapshot;
      readonly demand: Demand | null;
    }
  | { readonly type: "grown"; readonly snapshot: Snapshot }
  | { readonly type: "close"; readonly id: number; readonly end: Snapshot };

export type FromThread =
  | { readonly type: "written"; readonly id: number }
  | { readonly type: "problem"; readonly problem: string };

/** What the thread is given at its start. */
export interface ThreadPlace {
  readonly sessionDirectory: string;
  readonly worker: WorkerId;
  readonly token: string;
}

/** The global symbol by which the thread and the inspector find the profiler of a worker's main thread. */
export const PROFILER = "spillway.profiler";
