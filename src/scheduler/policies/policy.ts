/**
 * A backpressure policy: two questions and a name. Users see the name of the policy that refused. Policies only make
 * things wait; stall.ts makes sure that nothing waits for ever.
 */
import type { Bytes } from "../../protocol/index.ts";

/** What a policy may know about an operator. */
export interface OperatorView {
  readonly running: number;
  readonly maxRunning: number;
  /** Its output that no consumer has taken. */
  readonly queuedBlocks: number;
  readonly blockBound: number;
  /** Bytes of the store that it can still use. */
  readonly budget: Bytes;
  /** What its running tasks and one more are expected to ask for next. */
  readonly expected: Bytes;
  /** A consumer still gathers rows for its next task: more blocks are what it waits for. */
  readonly consumerGathers: boolean;
}

export interface BackpressurePolicy {
  readonly name: string;
  /** May another task of the operator begin? */
  mayStart(view: OperatorView): boolean;
  /** May one of its tasks be given room for another block, of so many bytes? */
  mayWrite(view: OperatorView, bytes: Bytes): boolean;
}
