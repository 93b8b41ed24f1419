/**
 * An operator that is still growing: what it reads, the steps so far, and the SELECT that takes in relational nodes
 * until a function or the end closes it. Immutable; every addition is a new draft.
 */
import { type FunctionNode, nothingSkipped, type ScanNode, type ScanPart, type ScanSplits } from "../plan/index.ts";
import {
  type BlockShape,
  type Bytes,
  type FedTable,
  type FilesRead,
  fillPlaceholders,
  type Gather,
  INPUT,
  type OperatorId,
  type ResourceRequest,
  type Skipped,
  type Split,
  type SqlStep,
} from "../protocol/index.ts";
import { type Made, readOf, type StageRead } from "./reads.ts";
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
import { wholeBatches } from "./whole-batches.ts";

export type StageStep = SqlStep | { readonly kind: "function"; readonly node: FunctionNode };

export type StageInput =
  | { readonly kind: "splits"; readonly splits: readonly Split[]; readonly mayMerge?: boolean }
  | { readonly kind: "operators"; readonly operators: readonly OperatorId[] }
  | {
      readonly kind: "fed";
      readonly tables: readonly FedTable[];
      readonly gather: Gather;
      readonly reads?: FilesRead;
    };

/** A task without a function has a core, as a function has that asks for nothing. */
const ONE_CORE: ResourceRequest = { cpu: 1, gpu: 0, memory: 0 };

export interface Draft {
  readonly input: StageInput;
  readonly place: "worker" | "wide";
  readonly broadcast: readonly FedTable[];
  readonly setsOrder: boolean;
  readonly scatter: number | null;
  readonly blockSize: Pick<BlockShape, "targetBytes" | "minBytes"> | null;
  readonly names: readonly string[];
  readonly steps: readonly StageStep[];
  readonly select: Select;
  /** What the SELECT under way does, for the step's name. */
  readonly selectNames: readonly string[];
  /** The SELECT under way makes fewer rows of those it gets at once: a part of an aggregate. */
  readonly shrinks: boolean;
  /** All SQL so far makes a row of each row. */
  readonly keepsRows: boolean;
  readonly request: ResourceRequest;
  readonly concurrency: FunctionNode["concurrency"];
  readonly maxRetries: number | null;
  readonly maxOomRetries: number | null;
  readonly minRowsPerTask: number;
  readonly maxRowsPerTask: number | null;
  readonly skipped: Skipped;
  readonly notes: readonly string[];
  readonly reads: readonly StageRead[];
  /** Null: rows that no part of the plan has (keys to look at, bounds). */
  readonly makes: Made | null;
}

function draftOver(input: StageInput, names: readonly string[]): Draft {
  return {
    input,
    place: "worker",
    broadcast: [],
    setsOrder: false,
    scatter: null,
    blockSize: null,
    names,
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
    skipped: nothingSkipped,
    notes: [],
    reads: [],
    makes: null,
  };
}

export function draftOverOperators(operators: readonly OperatorId[], names: readonly string[] = []): Draft {
  return draftOver({ kind: "operators", operators }, names);
}

export function draftOverSplits(splits: readonly Split[], names: readonly string[]): Draft {
  return draftOver({ kind: "splits", splits }, names);
}

/** A task for each gathering of the tables' rows; the SELECT reads them as `{t0}`, `{t1}`, … */
export function draftOverTables(
  tables: readonly FedTable[],
  gather: Gather,
  select: Select,
  names: readonly string[],
  reads?: FilesRead,
): Draft {
  const input: StageInput = { kind: "fed", tables, gather, ...(reads !== undefined && { reads }) };
  return { ...draftOver(input, names), select, selectNames: names };
}

export function draftOverScan(scan: ScanNode, found: ScanSplits): Draft {
  const { splits, mayMerge = false, skipped, notes } = found;
  const filters = scan.filters.length > 0 ? ["filter"] : [];
  const samples = scan.samples.length > 0 ? ["sample"] : [];
  return {
    ...draftOver({ kind: "splits", splits, mayMerge }, [scan.source.name, ...samples, ...filters]),
    select: selectFromScan(scan),
    selectNames: filters,
    keepsRows: filters.length === 0 && samples.length === 0,
    setsOrder: scan.source.ordered === true,
    skipped,
    notes,
    reads: [readOf(scan, found)],
  };
}

/** A part of a scan: its columns are computed first, then all that the scan asks for. */
export function draftOverPart(scan: ScanNode, part: ScanPart, found: ScanSplits): Draft {
  const { parts: _, ...rest } = found;
  const draft = draftOverScan(scan, { ...rest, splits: part.splits });
  return { ...draft, select: { ...draft.select, from: `(SELECT ${part.list} FROM ${INPUT})` } };
}

export function withNode(draft: Draft, node: RelationalNode): Draft {
  const name = nodeName(node);
  return {
    ...draft,
    select: applyNode(draft.select, node),
    selectNames: appended(draft.selectNames, name),
    names: appended(draft.names, name),
    keepsRows: draft.keepsRows && (node.kind === "project" || node.kind === "drop" || node.kind === "rename"),
  };
}

function appended(names: readonly string[], name: string): readonly string[] {
  return names.at(-1) === name ? names : [...names, name];
}

/** The SELECT under way becomes a step. */
export function flushed(draft: Draft): Draft {
  if (isTrivial(draft.select)) return draft;
  const { shrinks } = draft;
  const { unnamed, compared, united } = draft.select;
  const step: StageStep = {
    kind: "sql",
    operator: draft.selectNames.join("->") || "select",
    sql: selectSql(draft.select),
    ...(shrinks && { shrinks }),
    ...(unnamed.length > 0 && { unnamed }),
    ...(compared.length > 0 && { compared }),
    ...(united.length > 0 && { united }),
  };
  return { ...draft, steps: [...draft.steps, step], select: selectFrom(), selectNames: [], shrinks: false };
}

export function withFunction(draft: Draft, node: FunctionNode, capacity: Bytes): Draft {
  const { steps, input, ...rest } = flushed(draft);
  const isFirst = draft.steps.length === 0 && draft.keepsRows;
  const first = isFirst && input.kind === "operators";
  const merges = isFirst && input.kind === "splits" && input.mayMerge === true;
  return {
    ...rest,
    input: merges ? { kind: "splits", splits: wholeBatches(input.splits, node.options.batchSize, capacity) } : input,
    steps: [...steps, { kind: "function", node }],
    names: [...rest.names, node.form],
    request: node.request,
    concurrency: node.concurrency,
    maxRetries: node.maxRetries,
    maxOomRetries: node.maxOomRetries,
    // Small blocks are put together until a whole batch can be made of them.
    minRowsPerTask: first ? node.options.batchSize : rest.minRowsPerTask,
  };
}

export function functionsIn(draft: Draft): readonly FunctionNode[] {
  return draft.steps.flatMap((step) => (step.kind === "function" ? [step.node] : []));
}

/** Splits that do the draft's SQL themselves; null where they cannot. */
export function foldedSplits(draft: Draft): readonly Split[] | null {
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
