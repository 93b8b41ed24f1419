/** What observers are told of an operator when it becomes part of a job. */
import type { OperatorPlan, TaskOperator } from "../../protocol/index.ts";
import { inputsOf, type OperatorState } from "../state/index.ts";
import { recipeOf } from "./recipe.ts";

export function planOf({ spec }: OperatorState): OperatorPlan {
  const { id, name, kind } = spec;
  const inputs = inputsOf(spec).map((input) => input.id);
  const place = spec.kind === "tasks" ? spec.place : "worker";
  const tasks = spec.kind === "tasks" ? tasksKnown(spec) : 0;
  return { id, name, kind, place, inputs, tasks, recipe: recipeOf(spec) };
}

/** Tasks that the operator has in any case. The others are counted as they are formed. */
function tasksKnown({ input }: TaskOperator): number {
  if (input.kind === "splits") return input.splits.length;
  return input.kind === "fed" && input.gather.kind === "all" ? 1 : 0;
}
