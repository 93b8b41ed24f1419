/**
 * Where one stage ends and the next begins, and why. Reads and functions fuse with the functions after them, and into the
 * shuffle after them; what looks at all rows starts a stage of its own, which no function joins.
 */
import type { OperatorId } from "../protocol/index.ts";
import type { Stage, Stages, TaskStage } from "./stage.ts";

/** What goes from one stage to another. */
export interface Flow {
  readonly before: OperatorId;
  readonly after: OperatorId;
  readonly what: "blocks" | "broadcast" | "partitions";
  readonly reason: string;
}

export function flowsOf({ stages, notFused }: Stages): readonly Flow[] {
  const reasons = new Map(notFused.map(({ before, reason }) => [before, reason]));
  const flows: Flow[] = [];
  for (const stage of stages) {
    const flow = (what: Flow["what"], why: (before: Stage) => string) => (id: OperatorId) => {
      const before = stages[id];
      if (before !== undefined) flows.push({ before: id, after: stage.id, what, reason: why(before) });
    };
    if (stage.input.kind === "operators") {
      stage.input.operators.forEach(flow("blocks", (before) => reasons.get(before.id) ?? whyApart(before, stage)));
    }
    if (stage.kind === "slice") continue;
    if (stage.input.kind === "fed") {
      const what = stage.input.gather.kind === "partitions" ? "partitions" : "blocks";
      for (const table of stage.input.tables) table.operators.forEach(flow(what, (before) => whyFed(before, stage)));
    }
    for (const table of stage.broadcast)
      table.operators.forEach(flow("broadcast", (before) => whyGiven(before, stage)));
  }
  return flows;
}

function whyFed(before: Stage, { name, input }: TaskStage): string {
  if (input.kind !== "fed") return "";
  switch (input.gather.kind) {
    case "all":
      return `${name} needs all rows (all-to-all) of ${before.name} before it hands on its first.`;
    case "partitions":
      return `${name} needs all rows of a partition (all-to-all), which come from every task of ${before.name}.`;
    default:
      return `${name} puts all rows (all-to-all) of ${before.name} into other partitions.`;
  }
}

function whyGiven(before: Stage, { name }: TaskStage): string {
  return `${name} has all rows of ${before.name} in every task.`;
}

function whyApart(before: Stage, after: Stage): string {
  if (after.kind === "slice") return `${after.name} counts the rows of all tasks of ${before.name}.`;
  if (before.kind === "slice") return `${after.name} starts from the rows that the ${before.name} lets through.`;
  if (after.minRowsPerTask === Number.MAX_SAFE_INTEGER) {
    return `${after.name} is one task over what all tasks of ${before.name} made.`;
  }
  if (after.input.kind === "operators" && after.input.operators.length > 1) {
    return `${after.name} takes the rows of ${after.input.operators.length} stages.`;
  }
  if (before.input.kind === "fed") {
    return `${after.name} goes row by row (one-to-one), ${before.name} needs all rows (all-to-all) first.`;
  }
  return `${before.name} has more than one reader, or hands on what a task needs whole.`;
}
