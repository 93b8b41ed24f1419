/**
 * The stages made so far, and how a draft becomes one of them. The code that makes a draft decides what it contains: a
 * region, an exchange, or a chain of functions.
 */
import { foldedName } from "../arrow/index.ts";
import { columnsOf, type Describe, isDescribable, type Plan } from "../plan/index.ts";
import type { FedTable, OperatorId } from "../protocol/index.ts";
import { flushed } from "./draft.ts";
import { likelyColumns } from "./likely-columns.ts";
import type { Names } from "./needed.ts";
import { restored, travelledColumns } from "./own-types.ts";
import { seenBelow, seenColumns } from "./sees.ts";
import { isTrivial, type Select } from "./sql/select.ts";
import type { NotFused, SliceStage, Stage, TaskStage } from "./stage.ts";

export class Operators {
  readonly stages: Stage[] = [];
  readonly notFused: NotFused[] = [];
  /** What the tables have the rows of, by their columns: a table with more columns than its plan is not in it. */
  readonly #plans = new WeakMap<FedTable["columns"], Plan>();

  constructor(private readonly describe: Describe | null) {}

  close(draft: TaskStage): OperatorId {
    // SQL that was added to the region's own is not part of another way to run the region.
    const isRegion = draft.region?.select === draft.select && draft.steps.length === 0;
    const stage = this.#seeing({ ...flushed(draft), region: isRegion ? draft.region : null });
    return this.stages.push({ ...stage, name: stage.name || "gather" }) - 1;
  }

  slice(stage: Omit<SliceStage, "kind">): OperatorId {
    return this.stages.push({ kind: "slice", ...stage }) - 1;
  }

  /**
   * Lets functions below a limit of `rows` hand on their rows as soon as they have that many, because the functions may
   * be slow or endless. Operators that look at all rows still take all of them.
   */
  hurry(ids: readonly OperatorId[], rows: number): void {
    for (const id of ids) {
      const stage = this.stages[id];
      // A task that makes at most that many rows ends by itself, after the user's `finally`.
      const isShort = stage?.kind === "tasks" && stage.maxRowsPerTask !== null && stage.maxRowsPerTask <= rows;
      if (stage?.kind === "tasks" && !isShort && stage.steps.some(({ kind }) => kind === "function")) {
        this.stages[id] = { ...stage, firstRows: Math.min(rows, stage.firstRows ?? rows) };
      }
      if (stage?.input.kind === "operators") this.hurry(stage.input.operators, rows);
    }
  }

  /**
   * The operators whose output the draft passes on. If the draft does any work, it is closed and becomes that operator.
   */
  inputs(draft: TaskStage): readonly OperatorId[] {
    return isPassing(draft) && draft.input.kind === "operators" ? draft.input.operators : [this.close(draft)];
  }

  /**
   * The draft, ready for more SQL. Columns read from blocks get their types back where blocks cannot represent them.
   */
  async typed(draft: TaskStage, plan: Plan): Promise<TaskStage> {
    const isOverBlocks = isTrivial(draft.select) && (draft.input.kind === "operators" || draft.steps.length > 0);
    return isOverBlocks ? { ...draft, select: await this.typedSelect(draft.select, plan) } : draft;
  }

  /** Does the same for a SELECT that makes the plan's rows from blocks. */
  async typedSelect(select: Select, plan: Plan): Promise<Select> {
    return restored(select, await travelledColumns(plan, this.describe));
  }

  /** A table of the plan's rows, which the operators make. */
  async table(operators: readonly OperatorId[], plan: Plan, needed: Names): Promise<FedTable> {
    const columns = await this.#columns(plan, needed);
    this.#plans.set(columns, plan);
    return { operators, columns };
  }

  /** Adds to fed tables which of their columns the stage's SQL looks at, if that is known. */
  #seeing(stage: TaskStage): TaskStage {
    const { input, makes, scatter } = stage;
    if (input.kind !== "fed" || makes === null || makes.some || scatter !== null) return stage;
    if (stage.steps[0]?.kind !== "sql") return stage;
    const seen = seenBelow(makes.plan);
    const tables = input.tables.map((table) => {
      const plan = this.#plans.get(table.columns);
      const own = plan === undefined ? undefined : seen.get(plan);
      const sees = own === undefined ? null : seenColumns(own);
      return sees === null ? table : { ...table, sees };
    });
    return { ...stage, input: { ...input, tables } };
  }

  async #columns(plan: Plan, needed: Names): Promise<FedTable["columns"]> {
    if (this.describe !== null && isDescribable(plan)) {
      const columns = await this.describe(plan);
      return columns.map(({ name, type }) => ({ name, type: known(type) }));
    }
    const likely = likelyColumns(plan) ?? new Map<string, string | null>();
    // For the kernel, names that differ only in case are one column.
    const there = new Set([...likely.keys()].map(foldedName));
    const names = columnsOf(plan) ?? [...likely.keys(), ...[...needed].filter((name) => !there.has(foldedName(name)))];
    return names.map((name) => ({ name, type: known(likely.get(name) ?? null) }));
  }
}

/** A column that contains only nulls reveals no type, and neither do lists of nulls. */
function known(type: string | null): string | null {
  return type !== null && /\bNULL\b/.test(type) ? null : type;
}

/** Whether the draft hands on the output of operators unchanged. */
export function isPassing(draft: TaskStage): boolean {
  return draft.input.kind === "operators" && flushed(draft).steps.length === 0;
}
