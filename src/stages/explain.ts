/** Stages as text: what each reads, runs and leaves out, and where fusion stopped. */
import { functionLabel } from "../plan/index.ts";
import type { Split } from "../protocol/index.ts";
import type { StageStep } from "./draft.ts";
import { isUsual, requestText } from "./request.ts";
import type { Stage, Stages, TaskStage } from "./stage.ts";

export function stageLines({ stages, notFused }: Stages): readonly string[] {
  const lines = stages.flatMap((stage) => (stage.kind === "slice" ? sliceLines(stage) : taskLines(stage)));
  if (notFused.length > 0) lines.push("Not fused:", ...notFused.map((reason) => `  ${reason}`));
  return lines;
}

const title = (stage: Stage) => `Stage ${stage.id + 1} ${stage.name}`;

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;

function inputText(stage: Stage): string {
  if (stage.input.kind === "splits") return count(stage.input.splits.length, "task");
  if (stage.input.kind === "fed") return fedText(stage.input);
  return over(stage.input.operators);
}

const over = (operators: readonly number[]) => `over ${operators.map((id) => `stage ${id + 1}`).join(", ")}`;

function fedText({ tables, gather }: Extract<Stage["input"], { kind: "fed" }>): string {
  const inputs = tables.flatMap(({ operators }) => operators);
  const tasks = gather.kind === "all" ? "one task" : gather.kind === "rows" ? "tasks" : count(gather.count, "task");
  const what =
    gather.kind === "partitions" ? ", a partition each" : gather.kind === "rows" ? ` of ${gather.rows} rows` : "";
  return `${tasks}${what}${inputs.length === 0 ? "" : ` ${over(inputs)}`}`;
}

function sliceLines(stage: Extract<Stage, { kind: "slice" }>): string[] {
  const limit = stage.limit === null ? "all rows" : count(stage.limit, "row");
  const offset = stage.offset === 0 ? "" : ` after the first ${stage.offset}`;
  return [`${title(stage)}: ${limit}${offset}, ${inputText(stage)}`];
}

function taskLines(stage: TaskStage): string[] {
  const single = stage.minRowsPerTask === Number.MAX_SAFE_INTEGER ? ", in one task" : "";
  const lines = [`${title(stage)}: ${inputText(stage)}${single}`];
  if (stage.input.kind === "splits") lines.push(...splitLines(stage.input.splits));
  lines.push(...stage.steps.map((step) => `  ${stepText(step)}`));
  if (stage.maxRowsPerTask !== null) lines.push(`  at most ${stage.maxRowsPerTask} rows a task`);
  if (!isUsual(stage.request)) lines.push(`  a task needs ${requestText(stage.request)}`);
  if (stage.concurrency !== null) lines.push(`  concurrency ${stage.concurrency.min} to ${stage.concurrency.max}`);
  const { files, rowGroups, rows, columns } = stage.skipped;
  if (files + rowGroups + rows + columns > 0) {
    lines.push(`  skipped: ${files} files, ${rowGroups} row groups, ${rows} rows, ${columns} columns`);
  }
  lines.push(...stage.notes.map((note) => `  ${note}`));
  return lines;
}

function splitLines(splits: readonly Split[]): readonly string[] {
  const [first] = splits;
  if (first === undefined) return [];
  const more = splits.length > 1 ? ` (and ${splits.length - 1} more like it)` : "";
  const text =
    first.kind === "sql"
      ? first.sql
      : first.kind === "arrow"
        ? first.files.join(", ")
        : `${first.slices.length} blocks`;
  return [`  reads ${text.length > 300 ? `${text.slice(0, 300)}…` : text}${more}`];
}

function stepText(step: StageStep): string {
  if (step.kind === "sql") return `SQL: ${step.sql.length > 2000 ? `${step.sql.slice(0, 2000)}…` : step.sql}`;
  const { node } = step;
  const unit = node.form === "mapBatches" ? `batches of ${node.options.batchSize}` : "rows";
  return `${functionLabel(node)}: a ${node.fn.isClass ? "class" : "function"} over ${unit}`;
}
