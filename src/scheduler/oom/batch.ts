/** The most rows in one call of a task's functions: a smaller batch must be smaller than this. */
import type { OperatorState, TaskState } from "../state/index.ts";

/** Rows of the largest batch of the task's functions; null when no batch can be made smaller. */
export function largestBatch({ operator, input }: TaskState): number | null {
  const { spec } = operator;
  let largest: number | null = null;
  let most = rowsOf(input, operator);
  for (const step of spec.kind === "tasks" ? spec.steps : []) {
    if (step.kind === "sql") {
      most = Number.POSITIVE_INFINITY;
      continue;
    }
    const { form, options } = step;
    const isBatched = form === "mapBatches" || (form === "mapGroups" && options.stream === true);
    if (isBatched) largest = Math.max(largest ?? 0, Math.min(options.batchSize, most));
    if (form !== "map" && form !== "filter") most = Number.POSITIVE_INFINITY;
  }
  return largest;
}

/** Infinite when the number is unknown before the rows are read. */
function rowsOf({ source, pieces }: TaskState["input"], { spec }: OperatorState): number {
  if (spec.kind !== "tasks" || spec.input.kind === "fed" || source.kind === "fed") return Number.POSITIVE_INFINITY;
  if (pieces.length > 0) return pieces.reduce((sum, { start, end }) => sum + end - start, 0);
  if (source.kind === "blocks") return source.slices.reduce((sum, { start, end }) => sum + end - start, 0);
  return (source.kind === "sql" ? source.rows : null) ?? Number.POSITIVE_INFINITY;
}
