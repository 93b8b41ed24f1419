/**
 * The attempts of a task in the wide kernel. Each one works in another way than the last, and none has a smaller part
 * of the memory. Pure; it knows nothing of the scheduler.
 *
 *   attempt   │ of the memory │ threads │ buffers                             │ refused memory │ killed
 *   ──────────┼───────────────┼─────────┼─────────────────────────────────────┼────────────────┼─────────
 *   first     │ its share     │ all     │ by what kernels usually hold        │ oneThread      │ measured
 *   oneThread │ its share     │ one     │ the same                            │ most           │ measured
 *   most      │ nearly all    │ one     │ more: as much as ever has succeeded │ none           │ measured
 *   measured  │ nearly all    │ one     │ by what the killed process held     │ none           │ measured
 *
 * A process that is killed held more beside its buffers than kernels usually do (texts of aggregates, for example), so
 * its buffers leave room for that. It was killed again: it had not shown everything, so the next has still fewer. With
 * one thread from the beginning, `oneThread` is left out. `none`: the same would only happen again.
 */
import type { Bytes, KernelLease } from "../protocol/index.ts";
import { kernelLease, LEAST, PROCESS } from "./lease.ts";

export type WideAttempt =
  | { readonly kind: "first" | "oneThread" | "most" }
  /** Process memory for each byte of buffers. */
  | { readonly kind: "measured"; readonly perByte: number };

/** How an attempt ended. */
export type WideEnd =
  | { readonly kind: "refused" }
  /** `buffers`: what its kernel might use; `peak`: what its process was last seen with. Null: nobody knows. */
  | { readonly kind: "killed"; readonly buffers: Bytes | null; readonly peak: Bytes | null };

export const FIRST_ATTEMPT: WideAttempt = { kind: "first" };

/** A process grows between its last reading and its end. */
const UNSEEN = 1.25;
/** Where nothing was seen. */
const USUAL_PER_BYTE = 1.6;

/** Null: no attempt would end in another way. */
export function nextAttempt(attempt: WideAttempt, end: WideEnd, threads: number): WideAttempt | null {
  if (end.kind === "killed")
    return isLeast(attempt, end) ? null : { kind: "measured", perByte: perByteOf(attempt, end) };
  switch (attempt.kind) {
    case "first":
      return { kind: threads === 1 ? "most" : "oneThread" };
    case "oneThread":
      return { kind: "most" };
    case "most":
    case "measured":
      return null;
  }
}

/** Whether the attempt may have nearly all memory. */
export function mayHaveAll({ kind }: WideAttempt): boolean {
  return kind === "most" || kind === "measured";
}

export function leaseFor(attempt: WideAttempt, process: Bytes, threads: number): KernelLease {
  if (attempt.kind === "measured") {
    return { memory: Math.max(LEAST, Math.floor((process - PROCESS) / attempt.perByte)), threads: 1 };
  }
  return kernelLease(process, attempt.kind === "first" ? threads : 1, attempt.kind === "most");
}

/** It was killed with the fewest buffers that there are. */
function isLeast(attempt: WideAttempt, { buffers }: Extract<WideEnd, { kind: "killed" }>): boolean {
  return attempt.kind === "measured" && buffers !== null && buffers <= LEAST;
}

function perByteOf(attempt: WideAttempt, { buffers, peak }: Extract<WideEnd, { kind: "killed" }>): number {
  const had = attempt.kind === "measured" ? attempt.perByte : USUAL_PER_BYTE;
  const seen = buffers === null || peak === null ? had : (peak - PROCESS) / buffers;
  return UNSEEN * Math.max(had, seen);
}
