/** A task: what it is, where it stands, and what each room keeps of it. Plain data. */

import type { WireError } from "../../errors/index.ts";
import type { Bytes, HandedOver, LearnedNeed, Milliseconds, TaskId, TaskPhase } from "../../protocol/index.ts";
import { newTaskCancel, newTaskOutput, type TaskCancel, type TaskInput, type TaskOutput } from "./flow-state.ts";
import { newTaskRun, type TaskRun } from "./jobs-state.ts";
import { newTaskOom, type TaskOom } from "./oom-state.ts";
import type { OperatorState } from "./operator-state.ts";
import type { Flow } from "./pieces.ts";
import { newTaskResources, type TaskResources } from "./resources-state.ts";
import type { WorkerState } from "./worker-state.ts";

export interface TaskState {
  readonly id: TaskId;
  readonly operator: OperatorState;
  readonly index: number;
  /** The lost block that it is to make again. */
  readonly repairs: Lost | null;
  /** Written by `moveTask` alone (phases/task.ts). */
  phase: TaskPhase;
  /** Room it waits for, in the phase `asking`; `order` is the order of asking. */
  asking: { readonly bytes: Bytes; readonly order: number; readonly since: Milliseconds } | null;
  /** Written by the room `jobs`. */
  worker: WorkerState | null;
  readonly run: TaskRun;
  readonly input: TaskInput;
  readonly output: TaskOutput;
  readonly cancel: TaskCancel;
  readonly oom: TaskOom;
  readonly resources: TaskResources;
}

/** A block whose file was damaged. */
interface Lost {
  readonly flow: Flow;
  readonly error: WireError;
}

/** What a task that makes a lost block again begins with. */
export interface RepairOf {
  readonly lost: Lost;
  readonly handedOver: HandedOver[];
  readonly need: LearnedNeed;
  readonly blockBytes: Bytes | null;
}

export function newTask(
  id: TaskId,
  operator: OperatorState,
  index: number,
  input: TaskInput,
  bytesIn: Bytes | null,
  repair: RepairOf | null,
): TaskState {
  return {
    id,
    operator,
    index,
    repairs: repair?.lost ?? null,
    phase: "unplaced",
    asking: null,
    worker: null,
    run: newTaskRun(repair?.need ?? null, repair?.blockBytes ?? null),
    input,
    output: newTaskOutput(bytesIn, repair?.handedOver ?? []),
    cancel: newTaskCancel(),
    oom: newTaskOom(),
    resources: newTaskResources(),
  };
}
