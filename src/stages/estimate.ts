/**
 * How many rows and bytes each stage will hand on, from the metadata of the sources. Only for explain: the execution
 * does not depend on it. The effect of a condition is bounded, not guessed; the output of a function or a join is
 * unknown.
 */
import { columnsOf, type FunctionNode, type LimitNode, type Plan, type ScanNode } from "../plan/index.ts";
import type { OperatorId } from "../protocol/index.ts";
import { type Amount, about, atMost, exactly, mostly, share, total } from "./amount.ts";
import type { StageRead } from "./reads.ts";
import type { Stage, Stages } from "./stage.ts";

/** Null when only a run can tell. */
export interface Estimate {
  readonly rows: Amount | null;
  readonly bytes: Amount | null;
}

export interface Estimates {
  /** What each stage hands on. */
  readonly stages: ReadonlyMap<OperatorId, Estimate>;
  readonly reads: ReadonlyMap<StageRead, Estimate>;
}

const UNKNOWN: Estimate = { rows: null, bytes: null };

export async function estimatesOf({ stages }: Stages): Promise<Estimates> {
  const reads = stages.flatMap((stage) => (stage.kind === "tasks" ? stage.reads : []));
  const estimator = new Estimator(new Map(reads.map((read) => [read.scan, read])));
  const ofStages = new Map<OperatorId, Estimate>();
  for (const [id, stage] of stages.entries()) ofStages.set(id, await estimator.ofStage(stage));
  const ofReads = new Map<StageRead, Estimate>();
  for (const read of reads) ofReads.set(read, await estimatedRead(read));
  return { stages: ofStages, reads: ofReads };
}

/** What a read takes in before any condition. */
async function estimatedRead({ scan, rows, bytes }: StageRead): Promise<Estimate> {
  const { open } = scan;
  const all = open === null ? null : await open.countRows();
  const read = rows ?? all;
  const columns = open?.columns?.length ?? 0;
  const width = scan.columns === null || columns === 0 ? 1 : scan.columns.length / columns;
  const part = read === null || !all ? 1 : read / all;
  const size = bytes ?? (open?.bytes == null ? null : open.bytes * width * part);
  const certain = rows === null && scan.filters.length > 0 ? mostly : exactly;
  return { rows: read === null ? null : certain(read), bytes: size === null ? null : about(size) };
}

class Estimator {
  readonly #known = new Map<Plan, Promise<Estimate>>();

  constructor(private readonly reads: ReadonlyMap<ScanNode, StageRead>) {}

  async ofStage(stage: Stage): Promise<Estimate> {
    if (stage.makes === null) return UNKNOWN;
    const whole = await this.of(stage.makes.plan);
    const made = stage.makes.some ? some(whole) : whole;
    if (stage.kind === "slice" || stage.maxRowsPerTask === null) return made;
    // With a limit above, each task stops as soon as it has enough rows.
    if (stage.input.kind !== "splits") return some(made);
    return some(head(made, stage.input.splits.length * stage.maxRowsPerTask));
  }

  of(plan: Plan): Promise<Estimate> {
    const known = this.#known.get(plan);
    if (known !== undefined) return known;
    const estimate = this.#estimate(plan);
    this.#known.set(plan, estimate);
    return estimate;
  }

  async #estimate(plan: Plan): Promise<Estimate> {
    switch (plan.kind) {
      case "scan":
        return this.#scan(plan);
      case "project":
      case "window":
      case "drop":
        return this.#sameRows(plan);
      case "filter":
      case "dropNull":
      case "distinct":
        return some(await this.of(plan.input));
      case "aggregate":
        return plan.keys.length === 0 ? { rows: exactly(1), bytes: null } : some(await this.#sameRows(plan));
      case "limit":
        return limited(await this.of(plan.input), plan);
      case "sample": {
        const input = await this.of(plan.input);
        return plan.size.kind === "rows" ? head(input, plan.size.rows) : sampled(input, plan.size.fraction);
      }
      case "function":
        return ofFunction(plan, await this.of(plan.input));
      case "union": {
        const inputs = await Promise.all(plan.inputs.map((input) => this.of(input)));
        return { rows: total(inputs.map(({ rows }) => rows)), bytes: total(inputs.map(({ bytes }) => bytes)) };
      }
      case "join":
        return plan.how === "semi" || plan.how === "anti" ? some(await this.of(plan.left)) : UNKNOWN;
      case "zip": {
        const [left, right] = await Promise.all([this.of(plan.left), this.of(plan.right)]);
        return { rows: left.rows ?? right.rows, bytes: total([left.bytes, right.bytes]) };
      }
      case "explode":
        return UNKNOWN;
      default:
        return this.of(plan.input);
    }
  }

  /** The same rows with other columns. All columns are assumed to be equally wide. */
  async #sameRows(plan: Plan & { readonly input: Plan }): Promise<Estimate> {
    const { rows, bytes } = await this.of(plan.input);
    return { rows, bytes: share(bytes, narrowing(plan, plan.input)) };
  }

  async #scan(scan: ScanNode): Promise<Estimate> {
    const read = await estimatedRead(this.reads.get(scan) ?? { scan, rows: null, bytes: null });
    const sample = scan.samples.reduce((product, { fraction }) => product * fraction, 1);
    const kept = sampled(read, sample);
    return scan.filters.length === 0 ? kept : some(kept);
  }
}

/** The share of the input's columns that the node hands on. */
function narrowing(plan: Plan, input: Plan): number {
  const before = columnsOf(input)?.length;
  const after = columnsOf(plan)?.length;
  return !before || after === undefined ? 1 : after / before;
}

const some = ({ rows, bytes }: Estimate): Estimate => ({ rows: atMost(rows), bytes: atMost(bytes) });

const sampled = ({ rows, bytes }: Estimate, fraction: number): Estimate => ({
  rows: rounded(share(rows, fraction)),
  bytes: share(bytes, fraction),
});

const rounded = (rows: Amount | null) => (rows === null ? null : { ...rows, value: Math.round(rows.value) });

function ofFunction({ form, options }: FunctionNode, input: Estimate): Estimate {
  if (form === "filter") return some(input);
  if (form !== "map") return UNKNOWN;
  return { rows: options.onError === "fail" ? input.rows : atMost(input.rows), bytes: null };
}

/** At most this many rows. */
function head({ rows, bytes }: Estimate, most: number): Estimate {
  if (rows === null) return { rows: mostly(most), bytes: null };
  if (rows.value <= most) return { rows, bytes };
  const part = most / rows.value;
  return { rows: rows.certainty === "at most" ? mostly(most) : { ...rows, value: most }, bytes: share(bytes, part) };
}

function limited(input: Estimate, { offset, limit }: LimitNode): Estimate {
  const { rows, bytes } = input;
  if (rows === null) return limit === null ? UNKNOWN : head(input, limit);
  const left = Math.max(0, rows.value - offset);
  const after = { rows: { ...rows, value: left }, bytes: share(bytes, left / Math.max(1, rows.value)) };
  return limit === null ? after : head(after, limit);
}
