/**
 * Where one stage ends and the next begins, and why. Reads and functions fuse with the functions after them, and into
 * the shuffle after them. An operator that looks at all rows starts a stage of its own, which no function joins.
 */
import type { OperatorId } from "../protocol/index.ts";
import type { Stage, Stages, TaskStage } from "./stage.ts";

/** What is passed from one stage to another. */
export interface Flow {
  readonly before: OperatorId;
  readonly after: OperatorId;
  readonly what: "blocks" | "broadcast" | "partitions";
  readonly reason: string;
}

export function flowsOf({ stages, notFused }: Stages): readonly Flow[] {
  const reasons = new Map(notFused.map(({ before, reason }) => [before, reason]));
  const readers = (id: OperatorId) => stages.filter((stage) => inputsOf(stage).includes(id)).length;
  const flows: Flow[] = [];
  for (const [after, stage] of stages.entries()) {
    const flow = (what: Flow["what"], why: (before: Stage, id: OperatorId) => string) => (id: OperatorId) => {
      const before = stages[id];
      if (before !== undefined) flows.push({ before: id, after, what, reason: why(before, id) });
    };
    if (stage.input.kind === "operators") {
      stage.input.operators.forEach(
        flow("blocks", (before, id) => reasons.get(id) ?? whyApart(before, stage, readers(id))),
      );
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

function inputsOf(stage: Stage): readonly OperatorId[] {
  if (stage.kind === "slice") return stage.input.operators;
  const tables = stage.input.kind === "fed" ? [...stage.input.tables, ...stage.broadcast] : stage.broadcast;
  const fed = tables.flatMap(({ operators }) => operators);
  return stage.input.kind === "operators" ? [...stage.input.operators, ...fed] : fed;
}

function whyFed(before: Stage, { name, input }: TaskStage): string {
  if (input.kind !== "fed") return "";
  switch (input.gather.kind) {
    case "all":
      return `${name} needs all rows (all-to-all), ${before.name} goes task by task (one-to-one): its blocks are fed to it.`;
    case "whole":
      return `${name} is one task over what all tasks of ${before.name} made.`;
    case "partitions":
      return `${name} needs all rows of a partition (all-to-all), which come from every task of ${before.name}.`;
    default:
      return `${name} puts all rows (all-to-all) of ${before.name} into other partitions.`;
  }
}

function whyGiven(before: Stage, { name }: TaskStage): string {
  return `${name} has all rows of ${before.name} in every task.`;
}

function whyApart(before: Stage, after: Stage, readers: number): string {
  if (readers > 1) return `${before.name} has ${readers} readers.`;
  if (after.kind === "slice") return `${after.name} counts the rows of all tasks of ${before.name}.`;
  if (before.kind === "slice") return `${after.name} starts from the rows that the ${before.name} lets through.`;
  if (after.input.kind === "operators" && after.input.operators.length > 1) {
    return `${after.name} takes the rows of ${after.input.operators.length} stages.`;
  }
  if (before.input.kind === "fed") {
    return `${after.name} goes row by row (one-to-one), ${before.name} needs all rows (all-to-all) first.`;
  }
  if (after.broadcast.length > 0) {
    return `what is broadcast to ${after.name} is there for the first SQL of its tasks, not after the functions of ${before.name}.`;
  }
  return `${after.name} looks at all rows of a task at once, functions of ${before.name} hand them on as they come.`;
}
