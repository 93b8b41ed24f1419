/**
 * The column names of a resolved plan, in order; null if only running it can tell: after a function, or over blocks of
 * unknown schema. Answers are kept for each node, because rules ask again and again.
 */
import { besideNames } from "../protocol/index.ts";
import type { Plan } from "./plan.ts";

const answers = new WeakMap<Plan, readonly string[] | null>();

export function columnsOf(plan: Plan): readonly string[] | null {
  const known = answers.get(plan);
  if (known !== undefined) return known;
  const answer = compute(plan);
  answers.set(plan, answer);
  return answer;
}

/** The columns of both sides. A right column gets another name if the left has the same one. */
function besides(left: readonly string[], right: readonly string[], suffix: string): readonly string[] {
  return [...left, ...right.map(besideNames(left, suffix))];
}

function compute(plan: Plan): readonly string[] | null {
  switch (plan.kind) {
    case "scan":
      return plan.columns ?? plan.open?.columns?.map(({ name }) => name) ?? null;
    case "function":
      return plan.form === "filter" ? columnsOf(plan.input) : null;
    case "union":
      return plan.inputs[0] === undefined ? [] : columnsOf(plan.inputs[0]);
    case "project":
    case "window": {
      const named = plan.items.map(({ name }) => name);
      if (plan.mode === "select") return named;
      const input = columnsOf(plan.input);
      return input === null ? null : [...new Set([...input, ...named])];
    }
    case "drop": {
      const dropped = new Set(plan.names);
      return columnsOf(plan.input)?.filter((name) => !dropped.has(name)) ?? null;
    }
    case "rename":
      return columnsOf(plan.input)?.map((name) => plan.names.get(name) ?? name) ?? null;
    case "aggregate":
      return [...plan.keys, ...plan.items].map(({ name }) => name);
    case "join": {
      const left = columnsOf(plan.left);
      const right = columnsOf(plan.right);
      if (plan.how === "semi" || plan.how === "anti") return left;
      if (left === null || right === null) return null;
      const keys = new Set(plan.rightOn);
      return besides(
        left,
        right.filter((name) => !keys.has(name)),
        plan.suffix,
      );
    }
    case "zip": {
      const left = columnsOf(plan.left);
      const right = columnsOf(plan.right);
      return left === null || right === null ? null : besides(left, right, plan.suffix);
    }
    default:
      return columnsOf(plan.input);
  }
}
