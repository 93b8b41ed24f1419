/**
 * Runs an operation over all rows as an exchange: map operators scatter their rows to partitions, and one task per
 * partition runs the same SQL over its rows. Keys are hashed; a sort partitions by ranges (range-sort.ts); a shuffle
 * partitions at random. A small side of a join is sent to every task instead. An operation that cannot be partitioned
 * (a zip, an aggregate without keys, a window over all rows) stays one task.
 */
import { quoteIdentifier } from "../arrow/index.ts";
import { partitionsFor, targetFor } from "../partitions/index.ts";
import {
  type AggregateNode,
  columnsOf,
  commonPartition,
  type DistinctNode,
  expressionSql,
  type FunctionNode,
  isDescribable,
  type JoinNode,
  type NamedExpression,
  namedSql,
  type Plan,
  type ShuffleNode,
  seesRowOrder,
  type WindowNode,
  type ZipNode,
} from "../plan/index.ts";
import type { Bytes, FedTable, Gather } from "../protocol/index.ts";
import { type TwoPhase, twoPhase } from "./aggregates/two-phase.ts";
import { draftOverOperators, draftOverTables, functionsIn, named, withFunction } from "./draft.ts";
import { hashKey } from "./keys.ts";
import { joined as joinedNames, type Names, NOTHING, neededOf } from "./needed.ts";
import type { Operators } from "./operators.ts";
import { comparableKeys, hashPartition, type Side, withAnyKeys, withPartition } from "./partition.ts";
import type { Planning } from "./planning.ts";
import { rangeSort } from "./range-sort.ts";
import { someOf } from "./reads.ts";
import { estimatedBytes, isSmall } from "./size.ts";
import { joined } from "./sql/join.ts";
import { type AllToAllNode, keepsOrder, numbered, PLACE, relation, seesOrder } from "./sql/relation.ts";
import { mixed, nested, nodeName, type Select, selectFrom } from "./sql/select.ts";
import type { FedPart, TaskStage } from "./stage.ts";

type Partitions = Extract<Gather, { kind: "partitions" }>;
type DraftOf = (plan: Plan, needed: Names) => Promise<TaskStage>;

/** A side of a join or a zip. */
interface Input {
  readonly plan: Plan;
  readonly draft: TaskStage;
  readonly needed: Names;
}

const q = quoteIdentifier;
const T0 = selectFrom("{t0}");
const T1 = selectFrom("{t1}");

export class Exchange {
  constructor(
    private readonly planning: Planning,
    private readonly operators: Operators,
    /** Plans that operators make already. */
    private readonly given: ReadonlyMap<Plan, FedPart>,
  ) {}

  /** `needed`: the columns that the SQL above reads. */
  async draft(plan: AllToAllNode, needed: Names, draftOf: DraftOf): Promise<TaskStage> {
    const [of = NOTHING, ofRight = NOTHING] = neededOf(plan, needed);
    if (plan.kind === "join" || plan.kind === "zip") {
      const left = { plan: plan.left, draft: await draftOf(plan.left, of), needed: of };
      const right = { plan: plan.right, draft: await draftOf(plan.right, ofRight), needed: ofRight };
      return plan.kind === "join" ? this.#join(plan, left, right) : this.#oneTask(plan, left, right);
    }
    const draft = await draftOf(plan.input, of);
    switch (plan.kind) {
      case "aggregate":
        return this.#aggregate(plan, draft, of);
      case "distinct":
        return this.#distinct(plan, draft, of);
      case "sort":
        return rangeSort(plan, draft, this.#partitions(plan.input), this.operators, of);
      case "shuffle":
        return this.#shuffle(plan, draft, of);
      case "window":
        return this.#window(plan, draft, of);
    }
  }

  /** All rows of a group come to one task, sorted by their keys. */
  async groups(draft: TaskStage, node: FunctionNode): Promise<TaskStage> {
    const keys = node.options.keys ?? [];
    const names = keys.map((name) => q(name));
    const { table, by } = await this.#scattered(draft, { plan: node.input, keys }, null, NOTHING);
    // Rows of a group keep the order that the user asked for.
    const ordered = keepsOrder(node.input);
    const order = [...names, ...(ordered ? [PLACE] : [])].join(", ") || null;
    const select = ordered ? { ...numbered(T0), list: `* EXCLUDE (${PLACE})`, order } : { ...T0, order };
    const gathered = draftOverTables([{ ...table, ordered }], by, select, []);
    return withFunction({ ...gathered, selectNames: ["groups"] }, node, this.planning.capacity);
  }

  async byKeys(
    draft: TaskStage,
    plan: Plan,
    keys: readonly string[],
    wanted: number | null,
    needed: Names,
  ): Promise<TaskStage> {
    const { table, by } = await this.#scattered(draft, { plan, keys }, wanted, needed);
    const gathered = draftOverTables([table], by, selectFrom(), ["repartition"]);
    return draftOverOperators([this.operators.close(gathered)]);
  }

  async #scattered(
    draft: TaskStage,
    side: Side,
    wanted: number | null,
    needed: Names,
  ): Promise<{ table: FedTable; by: Partitions }> {
    const by = wanted === null && side.keys.length > 0 ? this.#partitions(side.plan) : exactly(wanted ?? 1);
    const operator = await this.#scatterBy(draft, side, by.count);
    return { table: await this.operators.table([operator], side.plan, joinedNames(needed, side.keys)), by };
  }

  /** Enough partitions for the plan's bytes; tasks take neighbours together when they turn out to be small. */
  #partitions(...plans: readonly Plan[]): Partitions {
    const { workers, workerKernel } = this.planning;
    const together = { target: targetFor(workerKernel), atLeast: 2 * workers };
    const bytes = plans
      .map((plan) => this.#bytes(plan))
      .reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0);
    return { kind: "partitions", count: partitionsFor(bytes, together, this.planning), together };
  }

  #bytes(plan: Plan): Bytes | null {
    return estimatedBytes(plan, this.planning.known);
  }

  #scatter(draft: TaskStage, partition: string, count: number): number {
    return this.operators.close(scattered(draft, partition, count));
  }

  async #scatterBy(draft: TaskStage, side: Side, count: number): Promise<number> {
    const [keys = []] = await comparableKeys([side], this.planning.describe);
    return this.#scatter(await this.operators.typed(draft, side.plan), hashPartition(keys, count), count);
  }

  async #aggregate(plan: AggregateNode, draft: TaskStage, needed: Names): Promise<TaskStage> {
    const phases = twoPhase(plan);
    const name = nodeName(plan);
    if (phases === null) return this.#wholeAggregate(plan, draft, needed);
    const map = await this.#partial(plan, draft, phases);
    const final = await this.operators.typedSelect(phases.final("{t0}"), plan);
    const { columns } = phases;
    if (plan.keys.length === 0) {
      const table = { operators: this.operators.inputs(map), columns };
      return { ...draftOverTables([table], { kind: "all" }, final, [name]), place: "wide" };
    }
    const by = this.#partitions(plan.input);
    const operator = this.#scatter(map, hashPartition(this.#keys(plan, phases.keys), by.count), by.count);
    return reduced([{ operators: [operator], columns }], by, final, name);
  }

  async #partial(plan: AggregateNode, draft: TaskStage, phases: TwoPhase): Promise<TaskStage> {
    if (this.given.get(plan.input)?.isPartial === true) return draft;
    const partial = { ...named(draft, `partial ${nodeName(plan)}`), makes: someOf(draft.makes) };
    const { select: rows } = await this.operators.typed(draft, plan.input);
    return { ...partial, select: phases.partial(rows), shrinks: true };
  }

  /** When types follow from the sources, all tasks have the same types and need no exact keys. */
  #keys({ input }: AggregateNode, names: readonly string[]): readonly string[] {
    return names.map((name) => (isDescribable(input) ? q(name) : hashKey(q(name))));
  }

  async #wholeAggregate(plan: AggregateNode, draft: TaskStage, needed: Names): Promise<TaskStage> {
    const name = nodeName(plan);
    const select = relation(plan, [T0]);
    if (plan.keys.length === 0) {
      const table = await this.operators.table(this.operators.inputs(draft), plan.input, needed);
      const ordered = seesOrder(plan);
      const gathered = draftOverTables([{ ...table, ordered }], { kind: "all" }, select, [name]);
      return { ...gathered, place: "wide", setsOrder: ordered };
    }
    const by = this.#partitions(plan.input);
    const keyed = withKeys(await this.operators.typed(draft, plan.input), plan.keys);
    const names = plan.keys.map((_, i) => keyName(i));
    const operator = this.#scatter(keyed, hashPartition(this.#keys(plan, names), by.count), by.count);
    const table = await this.operators.table([operator], plan.input, needed);
    const columns = [...table.columns, ...names.map((key) => ({ name: key, type: null }))];
    return reduced([{ ...table, columns, ordered: seesOrder(plan) }], by, select, name);
  }

  async #distinct(plan: DistinctNode, draft: TaskStage, needed: Names): Promise<TaskStage> {
    const by = this.#partitions(plan.input);
    const { select: rows } = await this.operators.typed(draft, plan.input);
    const once = { ...draft, select: relation(plan, [rows]), shrinks: true, makes: someOf(draft.makes) };
    const known = plan.columns ?? columnsOf(plan.input);
    const partial = named(once, "partial distinct");
    const operator =
      known === null
        ? this.operators.close(scatteredByAll(partial, by.count))
        : await this.#scatterBy(partial, { plan: plan.input, keys: known }, by.count);
    const table = await this.operators.table([operator], plan.input, needed);
    return reduced([table], by, relation(plan, [T0]), "distinct");
  }

  async #join(plan: JoinNode, left: Input, right: Input): Promise<TaskStage> {
    const { capacity, describe } = this.planning;
    const [leftBytes, rightBytes] = [this.#bytes(plan.left), this.#bytes(plan.right)];
    const { how } = plan;
    if (how !== "right" && how !== "full" && isSmall(rightBytes, capacity)) {
      return this.#broadcast(plan, left.draft, right, "right");
    }
    if ((how === "inner" || how === "right" || how === "cross") && isSmall(leftBytes, capacity)) {
      return this.#broadcast(plan, right.draft, left, "left");
    }
    if (plan.leftOn.length === 0) return this.#oneTask(plan, left, right);
    const by = this.#partitions(plan.left, plan.right);
    const sides = [
      { ...left, keys: plan.leftOn },
      { ...right, keys: plan.rightOn },
    ];
    const keys = await comparableKeys(sides, describe);
    const tables: FedTable[] = [];
    for (const [i, side] of sides.entries()) {
      const typed = await this.operators.typed(side.draft, side.plan);
      const operator = this.#scatter(typed, hashPartition(keys[i] ?? [], by.count), by.count);
      tables.push(await this.operators.table([operator], side.plan, side.needed));
    }
    return reduced(tables, by, relation(plan, [T0, T1]), "join");
  }

  /** Every task of the large side gets the whole small side. */
  async #broadcast(plan: JoinNode, large: TaskStage, small: Input, side: "left" | "right"): Promise<TaskStage> {
    const table = await this.operators.table(this.operators.inputs(small.draft), small.plan, small.needed);
    // Only a task's first SQL sees the broadcast tables.
    const ready = functionsIn(large).length === 0 ? large : draftOverOperators([this.operators.close(large)]);
    const { select: own } = await this.operators.typed(ready, side === "right" ? plan.left : plan.right);
    const given = selectFrom(`{b${ready.broadcast.length}}`);
    const select = side === "right" ? joined(plan, own, given) : joined(plan, given, own);
    return { ...named(ready, "broadcast join"), broadcast: [...ready.broadcast, table], select };
  }

  async #shuffle(plan: ShuffleNode, draft: TaskStage, needed: Names): Promise<TaskStage> {
    const by = this.#partitions(plan.input);
    const chance = `${mixed("*COLUMNS(*)", plan.seed)} % ${by.count}`;
    const map = { ...draft, select: withPartition(numbered(draft.select), chance, `* EXCLUDE (${PLACE})`) };
    const operator = this.operators.close({ ...named(map, "shuffleMap"), scatter: by.count });
    const table = await this.operators.table([operator], plan.input, needed);
    const reduce = reduced([{ ...table, ordered: true }], by, relation(plan, [T0]), nodeName(plan));
    return { ...reduce, setsOrder: true };
  }

  /** Partitions by the keys that all windows have in common; without such keys, one task has all rows. */
  async #window(plan: WindowNode, draft: TaskStage, needed: Names): Promise<TaskStage> {
    const ordered = seesRowOrder(plan);
    const name = nodeName(plan);
    const keys = commonPartition(plan);
    if (keys.length === 0) {
      const table = await this.operators.table(this.operators.inputs(draft), plan.input, needed);
      const gathered = draftOverTables([{ ...table, ordered }], { kind: "all" }, relation(plan, [T0]), [name]);
      return { ...gathered, place: "wide", setsOrder: ordered };
    }
    const by = this.#partitions(plan.input);
    const values = keys.map((key) => (isDescribable(plan.input) ? expressionSql(key) : hashKey(expressionSql(key))));
    const typed = await this.operators.typed(draft, plan.input);
    const operator = this.#scatter(typed, hashPartition(values, by.count), by.count);
    const table = await this.operators.table([operator], plan.input, needed);
    return reduced([{ ...table, ordered }], by, relation(plan, [T0]), name);
  }

  async #oneTask(plan: JoinNode | ZipNode, left: Input, right: Input): Promise<TaskStage> {
    const ordered = plan.kind === "zip";
    const tables: FedTable[] = [];
    for (const side of [left, right]) {
      const operators = this.operators.inputs(side.draft);
      tables.push({ ...(await this.operators.table(operators, side.plan, side.needed)), ordered });
    }
    const select = relation(plan, [T0, T1]);
    return {
      ...draftOverTables(tables, { kind: "all" }, select, [nodeName(plan)]),
      place: "wide",
      setsOrder: ordered,
    };
  }
}

/** Scatters by all columns. */
function scatteredByAll(draft: TaskStage, count: number): TaskStage {
  return { ...named(draft, "shuffleMap"), select: withAnyKeys(draft.select, count), scatter: count };
}

/** The draft's last SELECT computes the partition of each row. */
function scattered(draft: TaskStage, partition: string, count: number): TaskStage {
  return { ...named(draft, "shuffleMap"), select: withPartition(draft.select, partition), scatter: count };
}

function exactly(count: number): Partitions {
  return { kind: "partitions", count };
}

function reduced(tables: readonly FedTable[], by: Partitions, select: Select, name: string): TaskStage {
  return draftOverTables(tables, by, select, [name]);
}

const keyName = (i: number) => `__spillway_k${i}`;

/** Adds the keys as columns, to be hashed. */
function withKeys(draft: TaskStage, keys: readonly NamedExpression[]): TaskStage {
  const items = keys.map(({ expression }, i) => namedSql(keyName(i), expression));
  return { ...draft, select: { ...nested(draft.select), list: `*, ${items.join(", ")}` } };
}
