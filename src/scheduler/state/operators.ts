/** What follows from an operator's own fields, and from the task that has the wide kernel. */
import type { Bytes, TaskOperator } from "../../protocol/index.ts";
import type { OperatorState } from "./operator-state.ts";
import type { State } from "./state.ts";

export function inputEnded(operator: OperatorState): boolean {
  if (operator.ordered) return operator.input.currentInput >= operator.edges.inputs.length;
  return operator.edges.inputs.every((edge) => edge.ended);
}

export function isWide({ spec }: OperatorState): boolean {
  return spec.kind === "tasks" && spec.place === "wide";
}

/** Enough input for a task: the rows it prefers, or the most bytes of the store that one task may read. */
export function isBundle(operator: OperatorState, spec: TaskOperator, rows: number, bytes: Bytes): boolean {
  return rows >= spec.minRowsPerTask || bytes >= operator.input.maxBundle;
}

/** The kernel has a task of another job, or an operator upstream needs the kernel first. */
export function waitsForWide({ phases: { wide } }: State, operator: OperatorState): boolean {
  if (!isWide(operator) || operator.ended) return false;
  const busyWith = wide?.task?.operator.job;
  return (busyWith !== undefined && busyWith !== operator.job) || isBehindWide(operator);
}

function isBehindWide({ edges: { inputs, broadcasts } }: OperatorState): boolean {
  return [...inputs, ...broadcasts].some(
    ({ producer }) => !producer.ended && (isWide(producer) || isBehindWide(producer)),
  );
}
