/**
 * A backpressure policy: a question or two and a name. Nothing refuses a start but a policy, and users see its name.
 * Policies only make things wait; stall.ts makes sure that nothing waits for ever.
 */
import type { Bytes, PolicyName } from "../../protocol/index.ts";

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

/** What is known of an operator whose next task could start. */
export interface StartView extends OperatorView {
  /** The store has room for the task's first block, and for the input that is not in memory. */
  readonly hasRoom: boolean;
  /** The cores, memory and GPUs that the task asks for are free. */
  readonly hasResources: boolean;
  /** Neither this task nor another one has to compute alone first. */
  readonly isItsTurn: boolean;
  /** The operator's first task has not shown yet what a task takes. */
  readonly isOnTrial: boolean;
  /** The node has room for what a task of the operator takes. */
  readonly hasMemory: boolean;
}

/** May another task of the operator begin? */
export interface StartPolicy {
  readonly name: PolicyName;
  mayStart(view: StartView): boolean;
}

export interface BackpressurePolicy extends StartPolicy {
  /** May one of its tasks be given room for another block, of so many bytes? */
  mayWrite(view: OperatorView, bytes: Bytes): boolean;
}
