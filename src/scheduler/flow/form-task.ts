/** A new task, before anything has happened to it. */
import type { BlockId, TaskId } from "../../protocol/index.ts";
import { addTask } from "../phases/index.ts";
import {
  newTask,
  type OperatorState,
  type RepairOf,
  type State,
  type TaskInput,
  type TaskSource,
  type TaskState,
} from "../state/index.ts";
import { bytesOfInput } from "./budget.ts";

export function formTask(
  state: State,
  operator: OperatorState,
  id: TaskId,
  index: number,
  read: Pick<TaskInput, "source" | "pieces" | "feed">,
  repair: RepairOf | null = null,
): TaskState {
  const { source } = read;
  const blocks = needsOf(source, alwaysNeeded(operator));
  const input = { ...read, blocks, pins: blocks.map(() => null) };
  const task = newTask(id, operator, index, input, source.kind === "fed" ? null : bytesOfInput(source), repair);
  addTask(state, task);
  return task;
}

export function needsOf(input: TaskSource, always: readonly BlockId[]): readonly BlockId[] {
  return input.kind === "blocks" ? [...input.slices.map(({ block }) => block.id), ...always] : always;
}

/** What every task of the operator reads. */
export function alwaysNeeded({ input: { broadcast, payloads } }: OperatorState): readonly BlockId[] {
  if (broadcast.length === 0) return payloads;
  return [...broadcast.flat().map(({ flow }) => flow.block.id), ...payloads];
}
