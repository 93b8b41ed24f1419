/**
 * The largest relational part of a plan that contains a node which looks at all rows, as one SELECT for one task. The
 * task runs in the wide kernel, or in a worker if all it reads is a few megabytes of files. Scans become SQL over their
 * files. Parts that need functions or blocks, or must stop their readers at a limit, become operators of their own,
 * whose output is fed to the task as the tables `{t0}`, `{t1}`, …
 *
 * A limit over work that runs in parallel anyway stays outside of the region. There it is a slice, which stops readers
 * and functions as soon as it is satisfied, and takes the first rows in plan order, however many threads the kernel
 * has.
 */
import {
  type AggregateNode,
  inputsOf,
  nothingSkipped,
  type Plan,
  type ScanNode,
  type WholeScan,
} from "../plan/index.ts";
import type { Bytes, FedTable, FilesRead, PackedFile, Skipped } from "../protocol/index.ts";
import { type TwoPhase, twoPhase } from "./aggregates/two-phase.ts";
import { draftOverTables } from "./draft.ts";
import { type Names, neededOf } from "./needed.ts";
import type { StageRead } from "./reads.ts";
import { isQuick } from "./size.ts";
import {
  goesByPlace,
  holdsAllToAll,
  isRegionNode,
  keepsOrder,
  type RegionNode,
  readsPlaces,
  relation,
} from "./sql/relation.ts";
import { nodeName, type Select, selectFrom, selectFromScan } from "./sql/select.ts";
import type { TaskStage } from "./stage.ts";

/** Makes the operators that feed a region. */
interface Feeding {
  /** The scan as one table; null if its rows must come as blocks. */
  whole(scan: ScanNode): Promise<WholeScan | null>;
  table(plan: Plan, needed: Names): Promise<FedTable>;
  /**
   * The partial aggregate of the plan's rows; the rows themselves if the partial aggregate would need tasks of its own.
   */
  partial(plan: Plan, phases: TwoPhase, needed: Names): Promise<{ readonly table: FedTable; readonly cut: boolean }>;
  /**
   * A SELECT that makes the plan's rows from partial aggregates, and restores the types that these travelled without.
   */
  typedSelect(select: Select, plan: Plan): Promise<Select>;
}

export async function regionDraft(
  plan: RegionNode,
  feeding: Feeding,
  needed: Names,
  capacity: Bytes,
): Promise<TaskStage> {
  const region = new Region(feeding);
  const select = await region.select(plan, needed);
  const tables = readsPlaces(plan) ? region.tables.map((table) => ({ ...table, ordered: true })) : region.tables;
  return {
    ...draftOverTables(tables, { kind: "all" }, select, region.names, region.filesRead),
    place:
      region.tables.length === 0 && isQuick(plan, region.filesRead?.files.length ?? 0, capacity) ? "worker" : "wide",
    setsOrder: keepsOrder(plan) || goesByPlace(plan),
    skipped: region.skipped,
    notes: region.notes,
    reads: region.reads,
  };
}

class Region {
  readonly tables: FedTable[] = [];
  readonly names: string[] = [];
  readonly notes: string[] = [];
  readonly reads: StageRead[] = [];
  skipped: Skipped = nothingSkipped;
  readonly #files: string[] = [];
  readonly #packed: PackedFile[] = [];
  readonly #wholes = new Map<ScanNode, WholeScan | null>();

  constructor(private readonly feeding: Feeding) {}

  /** Undefined if it reads no files by itself. */
  get filesRead(): FilesRead | undefined {
    return this.#files.length === 0 ? undefined : { files: this.#files, packed: this.#packed };
  }

  async select(plan: Plan, needed: Names): Promise<Select> {
    if (plan.kind === "scan" && (await this.#whole(plan)) !== null) return this.#scan(plan);
    if (!isRegionNode(plan) || (!holdsAllToAll(plan) && !(await this.#isInline(plan)))) {
      return this.#fed(await this.feeding.table(plan, needed));
    }
    if (plan.kind === "aggregate") {
      const halves = await this.#twoPhases(plan, needed);
      if (halves !== null) return halves;
    }
    const wanted = neededOf(plan, needed);
    const selects: Select[] = [];
    for (const [i, input] of inputsOf(plan).entries()) {
      selects.push(await this.select(input, wanted[i] ?? needed));
    }
    this.#named(nodeName(plan));
    return relation(plan, selects);
  }

  async #twoPhases(plan: AggregateNode, above: Names): Promise<Select | null> {
    const phases = twoPhase(plan);
    if (phases === null || holdsAllToAll(plan.input)) return null;
    if ((await this.#isInline(plan.input)) && !(plan.keys.length === 0 && (await this.#isFasterSplit(plan.input))))
      return null;
    const [needed = above] = neededOf(plan, above);
    const { table, cut } = await this.feeding.partial(plan.input, phases, needed);
    this.#named(nodeName(plan));
    const fed = this.#fed(table);
    return cut ? this.feeding.typedSelect(phases.final(fed.from), plan) : relation(plan, [fed]);
  }

  #fed(table: FedTable): Select {
    this.tables.push(table);
    return selectFrom(`{t${this.tables.length - 1}}`);
  }

  /** Whether the plan is SQL over files and nothing else. */
  async #isInline(plan: Plan): Promise<boolean> {
    if (plan.kind === "scan") return (await this.#whole(plan)) !== null;
    if (!isRegionNode(plan) || plan.kind === "limit") return false;
    if (plan.kind === "sample" && plan.size.kind === "rows") return false;
    for (const input of inputsOf(plan)) if (!(await this.#isInline(input))) return false;
    return true;
  }

  /** Looks for a single scan with only row-wise nodes above it. */
  async #isFasterSplit(plan: Plan): Promise<boolean> {
    if (plan.kind === "scan") return (await this.#whole(plan))?.splitsAreFaster ?? false;
    const [input, ...others] = inputsOf(plan);
    return input !== undefined && others.length === 0 && this.#isFasterSplit(input);
  }

  async #whole(scan: ScanNode): Promise<WholeScan | null> {
    const known = this.#wholes.get(scan);
    if (known !== undefined) return known;
    const whole = await this.feeding.whole(scan);
    this.#wholes.set(scan, whole);
    return whole;
  }

  async #scan(scan: ScanNode): Promise<Select> {
    const whole = await this.#whole(scan);
    this.#named(scan.source.name);
    if (scan.filters.length > 0) this.#named("filter");
    this.notes.push(...(whole?.notes ?? []));
    // One by one, because a call cannot take a hundred thousand arguments.
    for (const file of whole?.files ?? []) this.#files.push(file);
    for (const file of whole?.packed ?? []) this.#packed.push(file);
    this.reads.push({ scan, rows: whole?.rows ?? null, bytes: null });
    this.skipped = sumSkipped(this.skipped, whole?.skipped ?? nothingSkipped);
    return selectFromScan(scan, whole?.sql ?? "");
  }

  #named(name: string): void {
    if (this.names.at(-1) !== name) this.names.push(name);
  }
}

export function sumSkipped(a: Skipped, b: Skipped): Skipped {
  return {
    files: a.files + b.files,
    rowGroups: a.rowGroups + b.rowGroups,
    rows: a.rows + b.rows,
    columns: a.columns + b.columns,
  };
}
