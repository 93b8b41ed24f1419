/**
 * From an optimised plan to operators. Each run of relational nodes becomes one SQL step, and one-to-one neighbours
 * become one operator. Limits, samples of n rows and unions of different sources stand between operators. A part of the
 * plan that looks at all rows becomes one task of the wide kernel (region.ts), or an exchange (exchange.ts).
 */
import {
  type FunctionNode,
  type LimitNode,
  nothingSkipped,
  type Plan,
  type SampleNode,
  type ScanNode,
  type ScanSplits,
  type UnionNode,
} from "../plan/index.ts";
import {
  draftOverOperators,
  draftOverPart,
  draftOverScan,
  draftOverSplits,
  draftOverTables,
  flushed,
  foldedSplits,
  functionsIn,
  longerName,
  withFunction,
  withNode,
} from "./draft.ts";
import { Exchange } from "./exchange.ts";
import { whyNotFused } from "./fusion.ts";
import { joined, type Names, NOTHING, neededOf } from "./needed.ts";
import { isPassing, Operators } from "./operators.ts";
import { type Planning, plainly } from "./planning.ts";
import { someOf } from "./reads.ts";
import { regionDraft, sumSkipped } from "./region.ts";
import { repartitioned } from "./repartition.ts";
import { splitsOf, wholeOf } from "./scans.ts";
import { holdsAllToAll, isAllToAll, isRegionNode } from "./sql/relation.ts";
import { limited, SAMPLE_KEY, smallestKeys } from "./sql/select.ts";
import type { Stages, TaskStage } from "./stage.ts";

export async function buildStages(plan: Plan, takesRows: boolean, planning: Partial<Planning> = {}): Promise<Stages> {
  const builder = new Builder({ ...plainly, ...planning, takesRows });
  builder.finish(await builder.draft(plan));
  const { stages, notFused } = builder.operators;
  return { stages, notFused };
}

class Builder {
  readonly operators: Operators;
  readonly #exchange: Exchange;

  constructor(private readonly planning: Planning) {
    this.operators = new Operators(planning.describe);
    this.#exchange = new Exchange(planning, this.operators);
  }

  async draft(plan: Plan, needed: Names = NOTHING): Promise<TaskStage> {
    return { ...(await this.#draft(plan, needed)), makes: { plan, some: false } };
  }

  /** `needed`: the columns that the SQL above reads. */
  async #draft(plan: Plan, needed: Names): Promise<TaskStage> {
    if (isRegionNode(plan) && holdsAllToAll(plan)) {
      if (!this.planning.exchange) return regionDraft(plan, this.#feeding(), needed, this.planning.capacity);
      if (isAllToAll(plan)) return this.#exchange.draft(plan, needed, (input, wanted) => this.draft(input, wanted));
    }
    const [wanted = NOTHING] = isRegionNode(plan) ? neededOf(plan, needed) : [];
    switch (plan.kind) {
      case "scan":
        return this.#scan(plan, await splitsOf(plan, this.planning.since));
      case "function":
        return this.#function(await this.draft(plan.input, new Set(plan.options.keys)), plan);
      case "limit":
        return this.#limit(await this.draft(plan.input, wanted), plan);
      case "union":
        return this.#union(plan, wanted);
      case "repartition": {
        const keys = plan.into.kind === "keys" ? plan.into.keys : [];
        const read = joined(needed, keys);
        return repartitioned(plan, await this.draft(plan.input, read), this.#exchange, this.operators, read);
      }
      case "sample": {
        const draft = await this.draft(plan.input, wanted);
        if (plan.size.kind === "fraction") return withNode(await this.operators.typed(draft, plan.input), plan);
        return this.#sampleRows(draft, plan, plan.size.rows, wanted);
      }
      case "fillNull":
        throw new Error("fillNull is resolved before stages are built");
      case "aggregate":
      case "distinct":
      case "join":
      case "sort":
      case "shuffle":
      case "window":
      case "zip":
        throw new Error(`${plan.kind} looks at all rows`);
      default:
        return withNode(await this.operators.typed(await this.draft(plan.input, wanted), plan.input), plan);
    }
  }

  finish(draft: TaskStage): void {
    const [only, ...others] = draft.input.kind === "operators" ? draft.input.operators : [];
    const { stages } = this.operators;
    const last = stages.at(-1);
    const passesOn = isPassing(draft) && others.length === 0 && only === stages.length - 1;
    if (passesOn && (!this.planning.takesRows || last?.kind === "tasks")) return;
    this.operators.close(draft);
  }

  #feeding(): Parameters<typeof regionDraft>[1] {
    return {
      whole: (scan) => wholeOf(scan, this.planning.since),
      table: async (plan, needed) =>
        this.operators.table(this.operators.inputs(await this.draft(plan, needed)), plan, needed),
      partial: async (plan, phases, needed) => {
        const draft = await this.draft(plan);
        if (isPassing(draft)) {
          return { table: await this.operators.table(this.operators.inputs(draft), plan, needed), cut: false };
        }
        const { select: rows } = await this.operators.typed(draft, plan);
        const select = phases.partial(rows);
        const name = "partial groupBy";
        const partial = {
          ...draft,
          select,
          selectNames: [name],
          name: longerName(draft.name, name),
          shrinks: true,
          makes: someOf(draft.makes),
        };
        return { table: { operators: [this.operators.close(partial)], columns: phases.columns }, cut: true };
      },
      typedSelect: (select, plan) => this.operators.typedSelect(select, plan),
    };
  }

  #scan(plan: ScanNode, found: ScanSplits): TaskStage {
    if (found.parts === undefined) return draftOverScan(plan, found);
    const drafts = found.parts.map((part, i) =>
      draftOverPart(plan, part, i === 0 ? found : { ...found, skipped: nothingSkipped, notes: [] }),
    );
    const [only, ...others] = drafts;
    if (only !== undefined && others.length === 0) return only;
    return draftOverOperators(drafts.flatMap((draft) => this.operators.inputs(draft)));
  }

  #function(draft: TaskStage, node: FunctionNode): TaskStage | Promise<TaskStage> {
    if (node.form === "mapGroups") return this.#exchange.groups(draft, node);
    const reason = whyNotFused(draft, node);
    if (reason === null || isPassing(draft)) return withFunction(draft, node, this.planning.capacity);
    const before = this.operators.close(draft);
    this.operators.notFused.push({ before, reason });
    return withFunction(draftOverOperators([before]), node, this.planning.capacity);
  }

  #limit(draft: TaskStage, plan: LimitNode): TaskStage {
    const { offset, limit } = plan;
    const rows = limit === null ? null : offset + limit;
    const operators = this.operators.inputs(rows === null ? draft : head(draft, rows));
    if (rows !== null) this.operators.hurry(operators, rows);
    const name = limit === null ? "offset" : "limit";
    const makes = { plan, some: false };
    const id = this.operators.slice({ name, input: { kind: "operators", operators }, offset, limit, makes });
    return draftOverOperators([id]);
  }

  async #union(plan: UnionNode, needed: Names): Promise<TaskStage> {
    const drafts: TaskStage[] = [];
    for (const input of plan.inputs) drafts.push(await this.draft(input, needed));
    const folded = drafts.map(foldedSplits);
    const names = [...new Set(drafts.map(({ name }) => name))].join("+");
    if (folded.every((splits) => splits !== null)) {
      return {
        ...draftOverSplits(folded.flat(), longerName(names, "union")),
        skipped: drafts.map((draft) => draft.skipped).reduce(sumSkipped),
        notes: drafts.flatMap((draft) => draft.notes),
        reads: drafts.flatMap((draft) => draft.reads),
      };
    }
    return draftOverOperators(
      drafts.flatMap((draft) => this.operators.inputs(draft)),
      "union",
    );
  }

  /** Each task keeps the n rows with the smallest keys; then one task keeps the n smallest of all. */
  async #sampleRows(draft: TaskStage, node: SampleNode, rows: number, needed: Names): Promise<TaskStage> {
    const whole = functionsIn(draft).length === 0 ? draft : draftOverOperators([this.operators.close(draft)]);
    const kept = this.operators.close({ ...withNode(whole, node), makes: someOf(draft.makes) });
    const { columns } = await this.operators.table([kept], node.input, needed);
    const table = { operators: [kept], columns: [...columns, SAMPLE_KEY] };
    const chosen = draftOverTables([table], { kind: "whole" }, smallestKeys("{t0}", rows), ["sample"]);
    return draftOverOperators([this.operators.close({ ...chosen, makes: { plan: node, some: false } })]);
  }
}

/** No task needs to make more rows than a limit above it takes. */
function head(draft: TaskStage, rows: number): TaskStage {
  if (isPassing(draft)) return draft;
  const { steps, input } = flushed(draft);
  const bySql = input.kind === "splits" && input.splits.every((split) => split.kind === "sql");
  const canLimit = steps.length > 0 ? steps.at(-1)?.kind === "sql" : bySql;
  return { ...draft, maxRowsPerTask: rows, select: canLimit ? limited(draft.select, rows) : draft.select };
}
