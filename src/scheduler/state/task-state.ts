/** A task, and the lost block that it may have to make again. Plain data. */

import type { WireError } from "../../errors/index.ts";
import type {
  ArenaRange,
  BlockId,
  Bytes,
  HandedOver,
  LearnedNeed,
  Milliseconds,
  Split,
  TaskId,
  TaskPhase,
} from "../../protocol/index.ts";
import type { Shortage } from "../needs/index.ts";
import type { Feed, Flow, Piece } from "./flow-state.ts";
import type { OperatorState } from "./operator-state.ts";
import type { Resources } from "./resources.ts";
import type { WorkerState } from "./worker-state.ts";

export interface TaskState {
  readonly id: TaskId;
  readonly operator: OperatorState;
  /** Written by `moveTask` alone (phases/task.ts). */
  phase: TaskPhase;
  readonly index: number;
  readonly input: Split | { readonly kind: "fed" };
  /** Input that came through the job, and is released with the task. */
  readonly pieces: readonly Piece[];
  readonly feed: Feed | null;
  /** Output that is handed on when the task is done. */
  readonly hidden: Piece[];
  /**
   * The blocks of its input, of its broadcast tables, the payloads of its functions; where each lies while it is
   * pinned.
   */
  readonly needs: readonly BlockId[];
  readonly pins: (ArenaRange | null)[];
  /** The lost block that it is to make again. */
  readonly repairs: Lost | null;
  readonly handedOver: HandedOver[];
  readonly bytesIn: Bytes | null;
  /** What it has handed over. */
  bytesOut: Bytes;
  attempt: number;
  /** The attempts among these that ran out of memory. */
  readonly shortages: Shortage[];
  /**
   * The need of its present attempt, and when the attempt began. The batch size stays once the task has handed a block
   * over.
   */
  need: LearnedNeed | null;
  /** It was refused memory although it had all there is: see TaskOrder. */
  blamesRows: boolean;
  startedAt: Milliseconds;
  /** Its worker's memory then; null: never measured. */
  startedWith: Bytes | null;
  /**
   * In the wide kernel: how often it ran out of memory. The next attempt has one thread, the one after that nearly all
   * memory.
   */
  relief: number;
  /** How often its process was killed: each further attempt has less for its buffers, and more beside them. */
  kills: number;
  /** When it may run again. */
  restsUntil: Milliseconds;
  /** What it has of the session's cores and memory. */
  claimed: Resources;
  worker: WorkerState | null;
  /** GPUs that it sees. */
  devices: readonly string[];
  /** Room it waits for; `order` is the order of asking. */
  asking: { readonly bytes: Bytes; readonly order: number; readonly since: Milliseconds } | null;
  granted: ArenaRange | null;
  cancelledAt: Milliseconds | null;
  /** Cancelled only to make room: it is run again later. */
  standsBack: boolean;
}

/** A block whose file was damaged. */
interface Lost {
  readonly flow: Flow;
  readonly error: WireError;
}
