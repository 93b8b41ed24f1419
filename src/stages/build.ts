/**
 * From an optimised plan to operators. Relational runs become one SQL step each, one-to-one neighbours one operator;
 * limits, samples of n rows and unions of different things stand between operators. Needs no engine but the sources'.
 */
import type { FunctionNode, Plan, SampleNode, ScanNode, UnionNode } from "../plan/index.ts";
import { columnsRead, type LimitNode, nothingSkipped, type ScanRequest, type ScanSplits } from "../plan/index.ts";
import type { OperatorId, ResourceRequest, Skipped } from "../protocol/index.ts";
import {
  type Draft,
  draftOverOperators,
  draftOverPart,
  draftOverScan,
  draftOverSplits,
  flushed,
  foldedSplits,
  functionsIn,
  type StageInput,
  type StageStep,
  withFunction,
  withNode,
} from "./draft.ts";
import { whyNotFused } from "./fusion.ts";
import { typedNulls } from "./sql/describe.ts";
import { limited, smallestKeys } from "./sql/select.ts";

export interface TaskStage {
  readonly kind: "tasks";
  readonly id: OperatorId;
  readonly name: string;
  readonly input: StageInput;
  readonly steps: readonly StageStep[];
  readonly request: ResourceRequest;
  /** Null: as many as there are workers. */
  readonly concurrency: { readonly min: number; readonly max: number } | null;
  readonly maxRetries: number | null;
  readonly minRowsPerTask: number;
  readonly maxRowsPerTask: number | null;
  readonly skipped: Skipped;
  readonly notes: readonly string[];
}

export interface SliceStage {
  readonly kind: "slice";
  readonly id: OperatorId;
  readonly name: string;
  readonly input: { readonly kind: "operators"; readonly operators: readonly OperatorId[] };
  readonly offset: number;
  readonly limit: number | null;
}

export type Stage = TaskStage | SliceStage;

export interface Stages {
  /** Inputs before users; the last one's output is the plan's. */
  readonly stages: readonly Stage[];
  /** Where neighbours were not fused, and why. */
  readonly notFused: readonly string[];
}

/** `takesRows`: the sink looks at rows itself (files, a count), so that a task must be the last stage. */
export async function buildStages(plan: Plan, takesRows: boolean): Promise<Stages> {
  const builder = new Builder();
  const draft = await builder.draft(plan);
  builder.finish(draft, takesRows);
  return { stages: builder.stages, notFused: builder.notFused };
}

class Builder {
  readonly stages: Stage[] = [];
  readonly notFused: string[] = [];

  async draft(plan: Plan): Promise<Draft> {
    switch (plan.kind) {
      case "scan":
        return this.#scan(plan, await splitsOf(plan));
      case "function":
        return this.#function(await this.draft(plan.input), plan);
      case "limit":
        return this.#limit(await this.draft(plan.input), plan);
      case "union":
        return this.#union(plan);
      case "sample":
        if (plan.size.kind === "rows") return this.#sampleRows(await this.draft(plan.input), plan, plan.size.rows);
        return withNode(await this.draft(plan.input), plan);
      case "fillNull":
        throw new Error("fillNull is resolved before stages are built");
      case "aggregate":
      case "distinct":
      case "join":
      case "sort":
      case "shuffle":
      case "repartition":
      case "zip":
        throw new Error(`${plan.kind} needs a wide stage`);
      default:
        return withNode(await this.draft(plan.input), plan);
    }
  }

  finish(draft: Draft, takesRows: boolean): void {
    const { steps, input } = flushed(draft);
    const [only, ...others] = input.kind === "operators" ? input.operators : [];
    const last = this.stages.at(-1);
    const passesOn = steps.length === 0 && only !== undefined && others.length === 0 && last?.id === only;
    if (passesOn && (!takesRows || last.kind === "tasks")) return;
    this.#close(draft);
  }

  #close(draft: Draft): OperatorId {
    const { select: _, selectNames: __, names, ...stage } = flushed(draft);
    const id = this.stages.length;
    this.stages.push({ kind: "tasks", id, name: names.join("->") || "gather", ...stage });
    return id;
  }

  /** The operators whose output is the draft's; itself closed, where it does anything. */
  #inputs(draft: Draft): readonly OperatorId[] {
    const { steps, input } = flushed(draft);
    return steps.length === 0 && input.kind === "operators" ? input.operators : [this.#close(draft)];
  }

  #scan(plan: ScanNode, found: ScanSplits): Draft {
    if (found.parts === undefined) return draftOverScan(plan, found);
    const drafts = found.parts.map((part, i) =>
      draftOverPart(plan, part, i === 0 ? found : { ...found, skipped: nothingSkipped, notes: [] }),
    );
    const [only, ...others] = drafts;
    if (only !== undefined && others.length === 0) return only;
    return draftOverOperators(drafts.flatMap((draft) => this.#inputs(draft)));
  }

  #function(draft: Draft, node: FunctionNode): Draft {
    const reason = whyNotFused(draft, node);
    if (reason === null) return withFunction(draft, node);
    const { steps, input } = flushed(draft);
    if (steps.length === 0 && input.kind === "operators") return withFunction(draft, node);
    this.notFused.push(reason);
    return withFunction(draftOverOperators([this.#close(draft)]), node);
  }

  #limit(draft: Draft, { offset, limit }: LimitNode): Draft {
    const rows = limit === null ? null : offset + limit;
    const operators = this.#inputs(rows === null ? draft : head(draft, rows));
    const id = this.stages.length;
    const name = limit === null ? "offset" : "limit";
    this.stages.push({ kind: "slice", id, name, input: { kind: "operators", operators }, offset, limit });
    return draftOverOperators([id]);
  }

  async #union(plan: UnionNode): Promise<Draft> {
    const drafts: Draft[] = [];
    for (const input of plan.inputs) drafts.push(await this.draft(input));
    const folded = drafts.map(foldedSplits);
    const names = [...new Set(drafts.map((draft) => draft.names.join("->")))].join("+");
    if (folded.every((splits) => splits !== null)) {
      return {
        ...draftOverSplits(folded.flat(), [names, "union"]),
        skipped: drafts.map((draft) => draft.skipped).reduce(sumSkipped),
        notes: drafts.flatMap((draft) => draft.notes),
      };
    }
    return draftOverOperators(
      drafts.flatMap((draft) => this.#inputs(draft)),
      ["union"],
    );
  }

  /** Each task keeps its n rows with the smallest keys; one task then keeps the smallest of all. */
  #sampleRows(draft: Draft, node: SampleNode, rows: number): Draft {
    const whole = functionsIn(draft).length === 0 ? draft : draftOverOperators([this.#close(draft)]);
    const kept = this.#close(withNode(whole, node));
    const chosen = {
      ...draftOverOperators([kept], ["sample"]),
      select: smallestKeys(rows),
      selectNames: ["sample"],
      minRowsPerTask: Number.MAX_SAFE_INTEGER,
    };
    return draftOverOperators([this.#close(chosen)]);
  }
}

/** No task needs to make more rows than a limit above it takes. */
function head(draft: Draft, rows: number): Draft {
  const { steps, input } = flushed(draft);
  if (steps.length === 0 && input.kind === "operators") return draft;
  const bySql = input.kind === "splits" && input.splits.every((split) => split.kind === "sql");
  const canLimit = steps.length > 0 ? steps.at(-1)?.kind === "sql" : bySql;
  return { ...draft, maxRowsPerTask: rows, select: canLimit ? limited(draft.select, rows) : draft.select };
}

async function splitsOf(scan: ScanNode): Promise<ScanSplits> {
  if (scan.open === null) throw new Error(`${scan.source.name} is opened before stages are built`);
  const found = await scan.open.splits(requestOf(scan));
  if (found.splits.length > 0 || !scan.open.columns?.length) return found;
  // Nothing to read, but its columns are known: one task over no rows lets a writer write a file that says so.
  return { ...found, splits: [{ kind: "sql", sql: `(SELECT * FROM ${typedNulls(scan)} WHERE false)`, files: [] }] };
}

function requestOf(scan: ScanNode): ScanRequest {
  const { filters, samples, limit } = scan;
  const available = scan.open?.columns?.map(({ name }) => name) ?? null;
  if (scan.columns === null) return { columns: null, filters, samples, limit };
  const read = new Set(scan.columns);
  for (const filter of filters) {
    const reads = columnsRead(filter, available);
    if (reads === null) return { columns: null, filters, samples, limit };
    for (const name of reads) read.add(name);
  }
  return { columns: available?.filter((name) => read.has(name)) ?? null, filters, samples, limit };
}

function sumSkipped(a: Skipped, b: Skipped): Skipped {
  return {
    files: a.files + b.files,
    rowGroups: a.rowGroups + b.rowGroups,
    rows: a.rows + b.rows,
    columns: a.columns + b.columns,
  };
}
