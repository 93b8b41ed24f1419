/**
 * The format of a profile file: JSON that Chrome DevTools and speedscope read as `.heapprofile`, with extra fields that
 * they ignore. `head` is the peak. The header is the first line, so that listing files need not read all of them.
 */
export const VERSION = 1;

export type NodeKind = "code" | "heap" | "buffer" | "block" | "engine" | "unattributed";

export interface ProfileNode {
  readonly callFrame: {
    readonly functionName: string;
    readonly scriptId: string;
    /** The user's file as a URL; "" when there is none. */
    readonly url: string;
    /** Counted from 0; −1 when unknown. */
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
  readonly selfSize: number;
  readonly id: number;
  readonly kind: NodeKind;
  readonly children: readonly ProfileNode[];
}

export interface ProfileHeader {
  readonly version: number;
  readonly title: string;
  readonly worker: number;
  readonly kind: ProfileKind;
  /** False while the profile was still running when the file was written. */
  readonly complete: boolean;
  /** Milliseconds since 1970. */
  readonly started: number;
  readonly ended: number;
  readonly peak: number;
}

/** Where the profile was requested: an operator's option, code inside a function, or an observer. */
export type ProfileKind = "operator" | "function" | "demand";

export interface ProfileView {
  readonly name: string;
  /** Milliseconds since the profile's start. */
  readonly at: number;
  readonly head: ProfileNode;
}

export interface ProfileFile {
  readonly spillway: ProfileHeader;
  readonly head: ProfileNode;
  readonly samples: readonly { readonly size: number; readonly nodeId: number; readonly ordinal: number }[];
  /** Time of the peak, in milliseconds since the profile's start. */
  readonly peakAt: number;
  /** Other moments: the end, what leaked, and some in between. */
  readonly views: readonly ProfileView[];
  /** Pairs of milliseconds since the profile's start and bytes of the worker's private memory. */
  readonly curve: readonly (readonly [number, number])[];
}
