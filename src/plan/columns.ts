/**
 * The column names a resolved plan hands on, in order, or null where only running it tells: after a function, and over
 * blocks of unknown shape. Answers are kept per node, since rules ask again and again.
 */
import type { Plan } from "./plan.ts";

const answers = new WeakMap<Plan, readonly string[] | null>();

export function columnsOf(plan: Plan): readonly string[] | null {
  const known = answers.get(plan);
  if (known !== undefined) return known;
  const answer = compute(plan);
  answers.set(plan, answer);
  return answer;
}

function compute(plan: Plan): readonly string[] | null {
  switch (plan.kind) {
    case "scan":
      return plan.columns ?? plan.open?.columns?.map(({ name }) => name) ?? null;
    case "function":
      return plan.form === "filter" ? columnsOf(plan.input) : null;
    case "union":
      return plan.inputs[0] === undefined ? [] : columnsOf(plan.inputs[0]);
    case "project": {
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
    default:
      return columnsOf(plan.input);
  }
}
