/** What the room `placement` keeps and alone writes: whose turn it is, and since when something stands still. */
import type { ArenaRange, Bytes, Milliseconds } from "../../protocol/index.ts";
import type { OperatorState } from "./operator-state.ts";
import type { TaskState } from "./task-state.ts";

interface ProgramAsk {
  readonly request: number;
  readonly bytes: Bytes;
  readonly order: number;
}

/** Placement state of the session. */
export interface PlacementState {
  /** The operator whose next task must compute alone and waits for other tasks to end. No task starts before it. */
  nextAlone: OperatorState | null;
  /** The task for which others have stood back. */
  yieldsTo: TaskState | null;
  /** The wide kernel was ordered and has not begun to start. */
  isWideOrdered: boolean;
  /** Since when another operator waits for the wide kernel, while the kernel's task waits for input. */
  wideHeldUpSince: Milliseconds | null;
  readonly programAsks: ProgramAsk[];
  readonly programRanges: Map<Bytes, ArenaRange>;
  /** Since when nothing can go on for lack of a worker, or of room. */
  slotStallSince: Milliseconds | null;
  storeStallSince: Milliseconds | null;
  /** When a worker was last found for a job that stood still beside others. */
  stillJobServedAt: Milliseconds;
}

export function newPlacementState(): PlacementState {
  return {
    nextAlone: null,
    yieldsTo: null,
    isWideOrdered: false,
    wideHeldUpSince: null,
    programAsks: [],
    programRanges: new Map(),
    slotStallSince: null,
    storeStallSince: null,
    stillJobServedAt: Number.NEGATIVE_INFINITY,
  };
}

export interface JobPlacement {
  /** The order of being served: the job served longest ago goes first. */
  lastServed: number;
  /** Since when the job has stood still for lack of a worker; null: it does not. */
  waitsSince: Milliseconds | null;
}

export function newJobPlacement(): JobPlacement {
  return { lastServed: 0, waitsSince: null };
}
