/**
 * How a stage begins and grows: a draft is a stage that is not closed yet. Drafts never change; every addition makes a
 * new one.
 */
import { type FunctionNode, nothingSkipped, type ScanNode, type ScanPart, type ScanSplits } from "../plan/index.ts";
import {
  type Bytes,
  type FedTable,
  type FilesRead,
  fillPlaceholders,
  type Gather,
  INPUT,
  type OperatorId,
  type ResourceRequest,
  type Split,
  type TaskOperator,
} from "../protocol/index.ts";
import { readOf } from "./reads.ts";
import {
  applyNode,
  isTrivial,
  nodeName,
  type RelationalNode,
  type Select,
  selectFrom,
  selectFromScan,
  selectSql,
} from "./sql/select.ts";
import type { StageStep, TaskStage } from "./stage.ts";
import { wholeBatches } from "./whole-batches.ts";

const ARROW = "->";
/** A task without a function requests one core, like a function that requests nothing. */
const ONE_CORE: ResourceRequest = { cpu: 1, gpu: 0, memory: 0 };

function draftOver(input: TaskOperator["input"], name: string): TaskStage {
  return {
    kind: "tasks",
    name,
    input,
    mayMerge: false,
    place: "worker",
    broadcast: [],
    setsOrder: false,
    scatter: null,
    region: null,
    blockSize: null,
    steps: [],
    select: selectFrom(),
    selectNames: [],
    shrinks: false,
    keepsRows: true,
    request: ONE_CORE,
    concurrency: null,
    maxRetries: null,
    maxOomRetries: null,
    minRowsPerTask: 1,
    maxRowsPerTask: null,
    firstRows: null,
    skipped: nothingSkipped,
    notes: [],
    reads: [],
    makes: null,
  };
}

export function draftOverOperators(operators: readonly OperatorId[], name = ""): TaskStage {
  return draftOver({ kind: "operators", operators }, name);
}

export function draftOverSplits(splits: readonly Split[], name: string): TaskStage {
  return draftOver({ kind: "splits", splits }, name);
}

/** One task for each gathering of the tables' rows. Its SELECT reads the tables as `{t0}`, `{t1}`, … */
export function draftOverTables(
  tables: readonly FedTable[],
  gather: Gather,
  select: Select,
  names: readonly string[],
  reads?: FilesRead,
): TaskStage {
  const input = { kind: "fed", tables, gather, ...(reads !== undefined && { reads }) } as const;
  return { ...draftOver(input, names.join(ARROW)), select, selectNames: names };
}

export function draftOverScan(scan: ScanNode, found: ScanSplits): TaskStage {
  const { splits, mayMerge = false, skipped, notes } = found;
  const filters = scan.filters.length > 0 ? ["filter"] : [];
  const samples = scan.samples.length > 0 ? ["sample"] : [];
  return {
    ...draftOverSplits(splits, [scan.source.name, ...samples, ...filters].join(ARROW)),
    mayMerge,
    select: selectFromScan(scan),
    selectNames: filters,
    keepsRows: filters.length === 0 && samples.length === 0,
    setsOrder: scan.source.ordered === true,
    skipped,
    notes,
    reads: [readOf(scan, found)],
  };
}

/** One part of a scan: the part's columns are computed first, then everything that the scan asks for. */
export function draftOverPart(scan: ScanNode, part: ScanPart, found: ScanSplits): TaskStage {
  const { parts: _, ...rest } = found;
  const draft = draftOverScan(scan, { ...rest, splits: part.splits });
  return { ...draft, select: { ...draft.select, from: `(SELECT ${part.list} FROM ${INPUT})` } };
}

export function withNode(draft: TaskStage, node: RelationalNode): TaskStage {
  const name = nodeName(node);
  return {
    ...draft,
    select: applyNode(draft.select, node),
    selectNames: draft.selectNames.at(-1) === name ? draft.selectNames : [...draft.selectNames, name],
    name: draft.name.split(ARROW).at(-1) === name ? draft.name : longerName(draft.name, name),
    keepsRows: draft.keepsRows && (node.kind === "project" || node.kind === "drop" || node.kind === "rename"),
  };
}

/** For example `readParquet->filter`. */
export function longerName(name: string, next: string): string {
  return name === "" ? next : `${name}${ARROW}${next}`;
}

/** Adds a name to the SELECT that is being built. */
export function named(draft: TaskStage, next: string): TaskStage {
  return { ...draft, name: longerName(draft.name, next), selectNames: [...draft.selectNames, next] };
}

/** Turns the SELECT that is being built into a step. */
export function flushed(draft: TaskStage): TaskStage {
  if (isTrivial(draft.select)) return draft;
  const { shrinks } = draft;
  const { unnamed, compared, united } = draft.select;
  const step: StageStep = {
    kind: "sql",
    operator: draft.selectNames.join(ARROW) || "select",
    sql: selectSql(draft.select),
    ...(shrinks && { shrinks }),
    ...(unnamed.length > 0 && { unnamed }),
    ...(compared.length > 0 && { compared }),
    ...(united.length > 0 && { united }),
  };
  return { ...draft, steps: [...draft.steps, step], select: selectFrom(), selectNames: [], shrinks: false };
}

export function withFunction(draft: TaskStage, node: FunctionNode, capacity: Bytes): TaskStage {
  const { steps, input, ...rest } = flushed(draft);
  const isFirst = draft.steps.length === 0 && draft.keepsRows;
  const first = isFirst && input.kind === "operators";
  const merges = isFirst && input.kind === "splits" && draft.mayMerge;
  return {
    ...rest,
    input: merges ? { kind: "splits", splits: wholeBatches(input.splits, node.options.batchSize, capacity) } : input,
    steps: [...steps, { kind: "function", node }],
    name: longerName(rest.name, node.form),
    request: node.request,
    concurrency: node.concurrency,
    maxRetries: node.maxRetries,
    maxOomRetries: node.maxOomRetries,
    // Waits for enough small blocks to fill a whole batch.
    minRowsPerTask: first ? node.options.batchSize : rest.minRowsPerTask,
  };
}

export function functionsIn(draft: TaskStage): readonly FunctionNode[] {
  return draft.steps.flatMap((step) => (step.kind === "function" ? [step.node] : []));
}

/** Splits that contain the draft's SQL; null if the SQL cannot move into the splits. */
export function foldedSplits(draft: TaskStage): readonly Split[] | null {
  if (draft.input.kind !== "splits" || draft.steps.length > 0 || draft.maxRowsPerTask !== null) return null;
  if (draft.broadcast.length > 0) return null;
  if (isTrivial(draft.select)) return draft.input.splits;
  const sql = selectSql(draft.select);
  const folded: Split[] = [];
  for (const split of draft.input.splits) {
    if (split.kind !== "sql") return null;
    const { rows: _, proof, ...rest } = split;
    const over = (table: string) => `(${fillPlaceholders(sql, new Map([[INPUT, table]]))})`;
    folded.push({ ...rest, sql: over(split.sql), ...(proof && { proof: { ...proof, sql: over(proof.sql) } }) });
  }
  return folded;
}
