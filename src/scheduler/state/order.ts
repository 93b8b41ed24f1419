/** What each operator of a job reads, and which of them take and hand over their rows in plan order. */
import type { JobSpec, Operator, OperatorId } from "../../protocol/index.ts";

interface Input {
  readonly id: OperatorId;
  readonly table: number;
  readonly isBroadcast: boolean;
}

export function inputsOf(operator: Operator): readonly Input[] {
  const { input } = operator;
  const of = (ids: readonly OperatorId[], table: number, isBroadcast: boolean): readonly Input[] =>
    ids.map((id) => ({ id, table, isBroadcast }));
  const tables = operator.kind === "tasks" ? operator.broadcast : [];
  const broadcast = tables.flatMap(({ operators }, table) => of(operators, table, true));
  if (input.kind === "splits") return broadcast;
  if (input.kind === "operators") return [...of(input.operators, 0, false), ...broadcast];
  return [...input.tables.flatMap(({ operators }, table) => of(operators, table, false)), ...broadcast];
}

/**
 * Operators in plan order: all, if the user wants it; those after a sort, up to the next operator that gathers all
 * rows; and always those whose rows a slice counts, or whose order matters otherwise.
 */
export function orderedOperators(spec: JobSpec): ReadonlySet<OperatorId> {
  const ordered = new Set<OperatorId>();
  for (const operator of spec.operators) {
    if (spec.preserveOrder || setsOrder(operator)) ordered.add(operator.id);
    if (mixes(operator)) continue;
    if (inputsOf(operator).some(({ id, isBroadcast }) => !isBroadcast && ordered.has(id))) ordered.add(operator.id);
  }
  for (const operator of [...spec.operators].reverse()) {
    if (needsOrder(operator)) ordered.add(operator.id);
    if (!ordered.has(operator.id) || (mixes(operator) && !needsOrder(operator) && !spec.preserveOrder)) continue;
    for (const { id, isBroadcast } of inputsOf(operator)) if (!isBroadcast) ordered.add(id);
  }
  return ordered;
}

function setsOrder(operator: Operator): boolean {
  return operator.kind === "tasks" && operator.setsOrder;
}

function needsOrder(operator: Operator): boolean {
  if (operator.kind === "slice") return true;
  if (operator.input.kind === "fed" && operator.input.tables.some(({ ordered }) => ordered === true)) return true;
  return (
    operator.input.kind === "fed" && (operator.input.gather.kind === "parts" || operator.input.gather.kind === "rows")
  );
}

/** Whether the operator's output has an order of its own, or none. */
function mixes(operator: Operator): boolean {
  if (operator.kind === "slice" || operator.input.kind !== "fed") return false;
  return operator.input.gather.kind !== "parts" && operator.input.gather.kind !== "rows";
}
