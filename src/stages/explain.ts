/**
 * Stages as text: where each stage runs, what it reads and runs, what it skips, the estimates, the figures of the last
 * run, and where fusion stopped. Nothing is shortened: the SQL is the SQL that runs.
 */
import { functionLabel } from "../plan/index.ts";
import {
  type FedTable,
  fillPlaceholders,
  type LearnedNeed,
  type OperatorId,
  type OperatorStats,
  type Split,
  type SqlStep,
} from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";
import { flowsOf } from "./boundaries.ts";
import type { Estimates } from "./estimate.ts";
import { appetiteText, counted, estimateText, figuresText, learnedText } from "./figures.ts";
import type { StageRead } from "./reads.ts";
import { isUsual, requestText } from "./request.ts";
import { sqlLines } from "./sql/layout.ts";
import type { SliceStage, Stage, StageStep, Stages, TaskStage } from "./stage.ts";

/** What is known about the stages beyond the plan. */
export interface Known {
  readonly estimates: Estimates;
  /** Empty before the first run. */
  readonly ran: ReadonlyMap<OperatorId, OperatorStats>;
  /**
   * The need that each stage starts with, after earlier tasks ran out of memory. Undefined when no such need is known.
   */
  readonly learned?: ReadonlyMap<OperatorId, LearnedNeed>;
}

export const nothingKnown: Known = { estimates: { stages: new Map(), reads: new Map() }, ran: new Map() };

export function stageLines(stages: Stages, known: Known = nothingKnown): readonly string[] {
  const lines = stages.stages.flatMap((stage, id) => [
    `${titleOf(stage, id)}: ${stage.kind === "slice" ? sliceText(stage) : inputText(stage)}`,
    ...(stage.kind === "slice" ? [`  runs ${placeText(stage)}`] : taskLines(stage, known.estimates)),
    ...amountLines(id, known),
  ]);
  const flows = flowsOf(stages);
  if (flows.length > 0) lines.push("Not fused:");
  return [
    ...lines,
    ...flows.map(({ before, after, reason }) => `  stage ${after + 1} with stage ${before + 1}: ${reason}`),
  ];
}

/** For example "in the workers". The wide kernel is a process of its own, beside the workers' slots. */
export function placeText(stage: Stage): string {
  if (stage.kind === "slice") return "in the supervisor";
  return stage.place === "wide" ? "in the wide kernel" : "in the workers";
}

export function titleOf({ name }: Stage, id: OperatorId): string {
  return `Stage ${id + 1} ${name}`;
}

const indented = (lines: readonly string[], by = "  ") => lines.map((line) => `${by}${line}`);

const over = (operators: readonly number[]) => `over ${operators.map((id) => `stage ${id + 1}`).join(", ")}`;

function inputText({ input }: Stage): string {
  switch (input.kind) {
    case "splits":
      return counted(input.splits.length, "task");
    case "operators":
      return over(input.operators);
    case "fed": {
      const inputs = input.tables.flatMap(({ operators }) => operators);
      return `${gatherText(input.gather)}${inputs.length === 0 ? "" : ` ${over(inputs)}`}`;
    }
  }
}

function gatherText(gather: Extract<Stage["input"], { kind: "fed" }>["gather"]): string {
  switch (gather.kind) {
    case "all":
    case "whole":
      return "one task";
    case "partitions":
      return gather.together === undefined
        ? `${counted(gather.count, "task")}, a partition each`
        : `${counted(gather.count, "partition")}, put together up to ${formatSize(gather.together.target)} a task`;
    case "parts":
      return counted(gather.count, "task");
    case "rows":
      return `tasks of ${counted(gather.rows, "row")}`;
  }
}

function amountLines(id: OperatorId, { estimates, ran, learned: before }: Known): string[] {
  const estimate = estimates.stages.get(id);
  const figures = ran.get(id);
  const lines: string[] = [];
  if (estimate !== undefined) lines.push(`  estimated: ${estimateText(estimate)}`);
  if (figures !== undefined) lines.push(`  real: ${figuresText(figures)}`);
  const learned = learnedText(figures ?? { oomRetries: 0, learned: before?.get(id) ?? null });
  if (learned !== null) lines.push(`  memory: ${learned}`);
  const appetite = figures === undefined ? null : appetiteText(figures);
  if (appetite !== null) lines.push(`  memory of a task: ${appetite}`);
  return lines;
}

function sliceText(stage: SliceStage): string {
  const limit = stage.limit === null ? "all rows" : counted(stage.limit, "row");
  const offset = stage.offset === 0 ? "" : ` after the first ${stage.offset}`;
  return `${limit}${offset}, ${inputText(stage)}`;
}

function taskLines(stage: TaskStage, estimates: Estimates): string[] {
  const lines = [
    `  runs ${placeText(stage)}${stage.place === "wide" ? " (a process with all threads)" : ""}`,
    ...indented(stage.reads.map((read) => readText(read, estimates))),
    ...tableLines(stage),
  ];
  if (stage.input.kind === "splits") lines.push(...splitLines(stage.input.splits));
  lines.push(...stage.steps.flatMap(stepLines));
  if (stage.scatter !== null) lines.push(`  sends its rows to ${counted(stage.scatter, "partition")}`);
  if (stage.setsOrder) lines.push("  its rows have an order that is kept from here on");
  if (stage.maxRowsPerTask !== null) lines.push(`  at most ${counted(stage.maxRowsPerTask, "row")} a task`);
  if (!isUsual(stage.request)) lines.push(`  a task needs ${requestText(stage.request)}`);
  if (stage.concurrency !== null) lines.push(`  concurrency ${stage.concurrency.min} to ${stage.concurrency.max}`);
  const { files, rowGroups, rows, columns } = stage.skipped;
  if (files + rowGroups + rows + columns > 0) {
    lines.push(`  skipped: ${files} files, ${rowGroups} row groups, ${rows} rows, ${columns} columns`);
  }
  return [...lines, ...indented(stage.notes)];
}

function readText(read: StageRead, estimates: Estimates): string {
  const { scan } = read;
  const estimate = estimates.reads.get(read);
  const all = scan.open?.columns?.length;
  const columns = scan.columns === null ? "" : ` (${scan.columns.length} of ${all} columns)`;
  const amount = estimate === undefined ? "" : `: ${estimateText(estimate)}`;
  return `reads ${scan.source.name} ${scan.source.label}${columns}${amount}`;
}

function tableLines({ input, broadcast }: TaskStage): readonly string[] {
  const from = ({ operators }: FedTable) => operators.map((id) => `stage ${id + 1}`).join(", ");
  const byPartition = input.kind === "fed" && input.gather.kind === "partitions";
  const fed = (table: FedTable) => {
    if (byPartition) return `a partition of the rows of ${from(table)}`;
    return `the rows of ${from(table)}, fed ${table.ordered === true ? "in plan order" : "as they come"}`;
  };
  const tables = input.kind === "fed" ? input.tables : [];
  return [
    ...tables.map((table, i) => `  {t${i}} is ${fed(table)}`),
    ...broadcast.map((table, i) => `  {b${i}} is all rows of ${from(table)}, broadcast to every task`),
  ];
}

function splitLines(splits: readonly Split[]): readonly string[] {
  const [first] = splits;
  if (first === undefined) return [];
  const whose = splits.length > 1 ? "  the first task reads" : "  the task reads";
  if (first.kind === "sql") return sqlBlock(whose, first.sql);
  if (first.kind === "arrow") return [`${whose} ${first.files.join(", ")}`];
  return [`${whose} ${counted(first.slices.length, "block")}`];
}

/** A short SQL text stays on the line of its heading. */
function sqlBlock(head: string, sql: string): readonly string[] {
  const lines = sqlLines(sql);
  const [only] = lines;
  return lines.length === 1 && only !== undefined ? [`${head} ${only}`] : [head, ...indented(lines, "    ")];
}

/** Replaces the columns that only a running task knows by words. */
function shownSql({ sql, unnamed = [] }: SqlStep): string {
  return fillPlaceholders(sql, new Map(unnamed.map(({ mark }) => [mark, "{columns of both}"])));
}

function stepLines(step: StageStep): readonly string[] {
  if (step.kind === "sql") return sqlBlock("  SQL:", shownSql(step));
  const { node } = step;
  const unit = node.form === "mapBatches" ? `batches of ${node.options.batchSize}` : unitOf(node.form);
  return [`  ${functionLabel(node)}: a ${node.fn.isClass ? "class" : "function"} over ${unit}`];
}

const unitOf = (form: string) => (form === "mapGroups" ? "groups" : "rows");
