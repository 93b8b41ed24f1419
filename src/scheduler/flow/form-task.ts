/** A new task, before anything has happened to it. */
import type { BlockId } from "../../protocol/index.ts";
import { addTask } from "../phases/index.ts";
import type { OperatorState, State, TaskState } from "../state/index.ts";
import { Resources } from "../state/index.ts";
import { bytesOfInput } from "./budget.ts";

type Formed = Pick<TaskState, "id" | "index" | "input" | "pieces" | "feed"> &
  Partial<Pick<TaskState, "repairs" | "handedOver" | "need">>;

export function formTask(state: State, operator: OperatorState, formed: Formed): TaskState {
  const { input } = formed;
  const needs = needsOf(input, alwaysNeeded(operator));
  const task: TaskState = {
    operator,
    phase: "unplaced",
    hidden: [],
    needs,
    pins: needs.map(() => null),
    repairs: null,
    handedOver: [],
    bytesIn: input.kind === "fed" ? null : bytesOfInput(input),
    bytesOut: 0,
    attempt: 0,
    shortages: [],
    blamesRows: false,
    need: null,
    startedAt: 0,
    startedWith: null,
    relief: 0,
    kills: 0,
    restsUntil: 0,
    claimed: Resources.none,
    worker: null,
    devices: [],
    asking: null,
    granted: null,
    cancelledAt: null,
    standsBack: false,
    ...formed,
  };
  addTask(state, task);
  return task;
}

export function needsOf(input: TaskState["input"], always: readonly BlockId[]): readonly BlockId[] {
  return input.kind === "blocks" ? [...input.slices.map(({ block }) => block.id), ...always] : always;
}

/** What every task of the operator reads. */
export function alwaysNeeded({ broadcast, payloads }: OperatorState): readonly BlockId[] {
  if (broadcast.length === 0) return payloads;
  return [...broadcast.flat().map(({ flow }) => flow.block.id), ...payloads];
}
