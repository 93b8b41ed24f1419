/**
 * The stages made so far, and how a draft becomes one of them. What the draft is of (a region, an exchange, a chain of
 * functions) is decided by who makes it.
 */
import { columnsOf, type Describe, isDescribable, type Plan } from "../plan/index.ts";
import type { FedTable, OperatorId } from "../protocol/index.ts";
import { type Draft, flushed } from "./draft.ts";
import { likelyColumns } from "./likely-columns.ts";
import type { Names } from "./needed.ts";
import type { NotFused, SliceStage, Stage } from "./stage.ts";

export class Operators {
  readonly stages: Stage[] = [];
  readonly notFused: NotFused[] = [];

  constructor(private readonly describe: Describe | null) {}

  close(draft: Draft): OperatorId {
    const { select: _, selectNames: __, shrinks: ___, names, ...stage } = flushed(draft);
    const id = this.stages.length;
    this.stages.push({ kind: "tasks", id, name: names.join("->") || "gather", ...stage });
    return id;
  }

  slice(stage: Omit<SliceStage, "kind" | "id">): OperatorId {
    const id = this.stages.length;
    this.stages.push({ kind: "slice", id, ...stage });
    return id;
  }

  /** The operators whose output is the draft's; itself closed, where it does anything. */
  inputs(draft: Draft): readonly OperatorId[] {
    return isPassing(draft) && draft.input.kind === "operators" ? draft.input.operators : [this.close(draft)];
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
    const names = columnsOf(plan) ?? [...new Set([...likely.keys(), ...needed])];
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
