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
import type { Bytes, OperatorId } from "../protocol/index.ts";
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
import { holdsAllToAll, isAllToAll, isRegionNode, type RegionNode } from "./sql/relation.ts";
import { limited, SAMPLE_KEY, smallestKeys } from "./sql/select.ts";
import type { FedPart, Stage, Stages, TaskStage } from "./stage.ts";

export async function buildStages(plan: Plan, takesRows: boolean, planning: Partial<Planning> = {}): Promise<Stages> {
  const builder = new Builder({ ...plainly, ...planning, takesRows });
  builder.finish(await builder.draft(plan));
  const { stages, notFused } = builder.operators;
  return { stages, notFused };
}

/**
 * The stages, and after them those that run the region of the stage `id` as an exchange; the last of them makes the
 * region's rows. `made`: bytes that operators have made, or will have.
 */
export async function otherWay(
  stages: readonly Stage[],
  id: OperatorId,
  planning: Partial<Planning>,
  made: ReadonlyMap<OperatorId, Bytes>,
): Promise<readonly Stage[]> {
  const stage = stages[id];
  if (stage?.kind !== "tasks" || stage.region === null) throw new Error(`The stage ${id} has no other way.`);
  const { plan, needed, fed } = stage.region;
  const given = new Map(fed.map((part) => [part.plan, part]));
  const known = new Map(fed.map((part) => [part.plan, sumOf(part.operators.map((one) => made.get(one) ?? 0))]));
  const builder = new Builder({ ...plainly, ...planning, exchange: true, known }, given);
  builder.operators.stages.push(...stages);
  const draft = await builder.draft(plan, needed);
  const last = builder.operators.stages.length - 1;
  const [only, ...others] = draft.input.kind === "operators" ? draft.input.operators : [];
  if (!isPassing(draft) || others.length > 0 || only !== last) builder.operators.close(draft);
  return builder.operators.stages;
}

function sumOf(sizes: readonly Bytes[]): Bytes {
  return sizes.reduce((sum, one) => sum + one, 0);
}

class Builder {
  readonly operators: Operators;
  readonly #exchange: Exchange;

  /** `given`: plans that operators make already. */
  constructor(
    private readonly planning: Planning,
    private readonly given: ReadonlyMap<Plan, FedPart> = new Map(),
  ) {
    this.operators = new Operators(planning.describe);
    this.#exchange = new Exchange(planning, this.operators, given);
  }

  async draft(plan: Plan, needed: Names = NOTHING): Promise<TaskStage> {
    const given = this.given.get(plan);
    if (given !== undefined) return draftOverOperators(given.operators);
    return { ...(await this.#draft(plan, needed)), makes: { plan, some: false } };
  }

  /** `needed`: the columns that the SQL above reads. */
  async #draft(plan: Plan, needed: Names): Promise<TaskStage> {
    if (isRegionNode(plan) && holdsAllToAll(plan)) {
      if (!this.planning.exchange) return this.#region(plan, needed);
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

  async #region(plan: RegionNode, needed: Names): Promise<TaskStage> {
    const fed: FedPart[] = [];
    const draft = await regionDraft(plan, this.#feeding(fed), needed, this.planning.capacity);
    return { ...draft, region: { plan, needed, fed, select: draft.select } };
  }

  #feeding(fed: FedPart[]): Parameters<typeof regionDraft>[1] {
    const table = async (draft: TaskStage, plan: Plan, needed: Names) => {
      const operators = this.operators.inputs(draft);
      fed.push({ plan, operators, isPartial: false });
      return this.operators.table(operators, plan, needed);
    };
    return {
      whole: (scan) => wholeOf(scan, this.planning.since),
      table: async (plan, needed) => table(await this.draft(plan, needed), plan, needed),
      partial: async (plan, phases, needed) => {
        const draft = await this.draft(plan);
        if (isPassing(draft)) {
          return { table: await table(draft, plan, needed), cut: false };
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
        const operators = [this.operators.close(partial)];
        fed.push({ plan, operators, isPartial: true });
        return { table: { operators, columns: phases.columns }, cut: true };
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
