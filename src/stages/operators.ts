/**
 * The stages made so far, and how a draft becomes one of them. What the draft is of (a region, an exchange, a chain of
 * functions) is decided by who makes it.
 */
import { foldedName } from "../arrow/index.ts";
import { columnsOf, type Describe, isDescribable, type Plan } from "../plan/index.ts";
import type { FedTable, OperatorId } from "../protocol/index.ts";
import { type Draft, flushed } from "./draft.ts";
import { likelyColumns } from "./likely-columns.ts";
import type { Names } from "./needed.ts";
import { restored, travelledColumns } from "./own-types.ts";
import { isTrivial, type Select } from "./sql/select.ts";
import type { NotFused, SliceStage, Stage } from "./stage.ts";

export class Operators {
  readonly stages: Stage[] = [];
  readonly notFused: NotFused[] = [];

  constructor(private readonly describe: Describe | null) {}

  close(draft: Draft): OperatorId {
    const { select: _, selectNames: __, shrinks: ___, keepsRows: ____, names, ...stage } = flushed(draft);
    const id = this.stages.length;
    this.stages.push({ kind: "tasks", id, name: names.join("->") || "gather", ...stage, firstRows: null });
    return id;
  }

  slice(stage: Omit<SliceStage, "kind" | "id">): OperatorId {
    const id = this.stages.length;
    this.stages.push({ kind: "slice", id, ...stage });
    return id;
  }

  /**
   * A limit of so many rows is above these: functions below it hand on as many as soon as they have them, since they
   * may be slow or never end. What looks at all rows takes all of them.
   */
  hurry(ids: readonly OperatorId[], rows: number): void {
    for (const id of ids) {
      const stage = this.stages[id];
      // A task that makes no more than that ends there by itself, after the user's `finally`.
      const isShort = stage?.kind === "tasks" && stage.maxRowsPerTask !== null && stage.maxRowsPerTask <= rows;
      if (stage?.kind === "tasks" && !isShort && stage.steps.some(({ kind }) => kind === "function")) {
        this.stages[id] = { ...stage, firstRows: Math.min(rows, stage.firstRows ?? rows) };
      }
      if (stage?.input.kind === "operators") this.hurry(stage.input.operators, rows);
    }
  }

  /** The operators whose output is the draft's; itself closed, where it does anything. */
  inputs(draft: Draft): readonly OperatorId[] {
    return isPassing(draft) && draft.input.kind === "operators" ? draft.input.operators : [this.close(draft)];
  }

  /** The draft, ready for more SQL: where that reads blocks, columns have the types again that blocks have none for. */
  async typed(draft: Draft, plan: Plan): Promise<Draft> {
    const isOverBlocks = isTrivial(draft.select) && (draft.input.kind === "operators" || draft.steps.length > 0);
    return isOverBlocks ? { ...draft, select: await this.typedSelect(draft.select, plan) } : draft;
  }

  /** The same of a SELECT that makes the plan's rows of what came in blocks. */
  async typedSelect(select: Select, plan: Plan): Promise<Select> {
    return restored(select, await travelledColumns(plan, this.describe));
  }

  /** A table of the plan's rows, which the operators make. */
  async table(operators: readonly OperatorId[], plan: Plan, needed: Names): Promise<FedTable> {
    return { operators, columns: await this.#columns(plan, needed) };
  }

  async #columns(plan: Plan, needed: Names): Promise<FedTable["columns"]> {
    if (this.describe !== null && isDescribable(plan)) {
      const columns = await this.describe(plan);
      return columns.map(({ name, type }) => ({ name, type: known(type) }));
    }
    const likely = likelyColumns(plan) ?? new Map<string, string | null>();
    // A name in another case is no other column for the kernel.
    const there = new Set([...likely.keys()].map(foldedName));
    const names = columnsOf(plan) ?? [...likely.keys(), ...[...needed].filter((name) => !there.has(foldedName(name)))];
    return names.map((name) => ({ name, type: known(likely.get(name) ?? null) }));
  }
}

/** A column of nothing but nulls says nothing of its type, nor do lists of them. */
function known(type: string | null): string | null {
  return type !== null && /\bNULL\b/.test(type) ? null : type;
}

/** Hands on what operators made, as it is. */
export function isPassing(draft: Draft): boolean {
  return draft.input.kind === "operators" && flushed(draft).steps.length === 0;
}
