/**
 * Cuts a result into several datasets by rows. Two datasets share a block if the cut goes through it; the last of them
 * to go frees it.
 */
import { OptionError } from "../../errors/index.ts";
import { shuffle } from "../../plan/index.ts";
import type { BlockId, BlockSlice } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import { type Materialized, materialized } from "../materialize.ts";
import { checkKeys, describe, seedOf } from "../options.ts";
import { BlockHold } from "../sources/block-hold.ts";
import type { Run } from "./blocks.ts";
import { type CancelOptions, cancelKeys } from "./cancellation.ts";

export interface TrainTestOptions extends CancelOptions {
  /** A fraction of the rows, above 0 and below 1, or a whole number of rows. */
  readonly testSize: number;
  /** Shuffle the rows before they are cut. Default false. */
  readonly shuffle?: boolean;
  /** The seed of the shuffle. */
  readonly seed?: number;
}

export async function splitRows(run: Run, parts: number): Promise<readonly Materialized[]> {
  const whole = await materialized(run);
  const rows = rowsOf(whole.slices);
  const each = Math.floor(rows / parts);
  const more = rows % parts;
  return cutAt(
    run.engine,
    whole,
    Array.from({ length: parts - 1 }, (_, i) => each * (i + 1) + Math.min(i + 1, more)),
  );
}

export async function trainTestRows(
  run: Run,
  options: TrainTestOptions,
): Promise<{ readonly train: Materialized; readonly test: Materialized }> {
  checkKeys("trainTestSplit", options, ["testSize", "shuffle", "seed", ...cancelKeys]);
  const { testSize, shuffle: mixes = false } = options;
  checkTestSize(testSize);
  if (typeof mixes !== "boolean") {
    throw new OptionError(`trainTestSplit: shuffle is ${describe(mixes)}; it must be true or false.`);
  }
  if (!mixes && options.seed !== undefined) throw new OptionError("trainTestSplit: seed needs shuffle: true.");
  const plan = mixes ? shuffle(run.plan, seedOf("trainTestSplit", options.seed)) : run.plan;
  const whole = await materialized({ ...run, plan });
  const rows = rowsOf(whole.slices);
  const wanted = testSize < 1 ? Math.round(rows * testSize) : testSize;
  if (wanted > rows) {
    whole.hold.release();
    throw new OptionError(`trainTestSplit: testSize is ${wanted} rows, but there are only ${rows}.`);
  }
  const [train = whole, test = whole] = cutAt(run.engine, whole, [rows - wanted]);
  return { train, test };
}

function checkTestSize(testSize: unknown): void {
  const size = typeof testSize === "number" ? testSize : Number.NaN;
  if ((size > 0 && size < 1) || (Number.isSafeInteger(size) && size >= 1)) return;
  throw new OptionError(
    `trainTestSplit: testSize is ${describe(testSize)}; it must be above 0 and below 1, or a whole number of rows.`,
  );
}

function rowsOf(slices: readonly BlockSlice[]): number {
  return slices.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** Cuts the result before each of these rows. The parts take over its references. */
function cutAt(
  engine: Engine,
  { slices, columns, ordered }: Materialized,
  bounds: readonly number[],
): readonly Materialized[] {
  const edges = [0, ...bounds, rowsOf(slices)];
  const parts = edges.slice(1).map((end, i) => between(slices, edges[i] ?? 0, end));
  const shared = sharedBlocks(engine, parts);
  return parts.map((own) => ({ slices: own, columns, hold: new BlockHold(shared, idsOf(own)), ordered }));
}

function between(slices: readonly BlockSlice[], from: number, to: number): readonly BlockSlice[] {
  const kept: BlockSlice[] = [];
  let before = 0;
  for (const { block, start, end } of slices) {
    const first = start + Math.max(0, from - before);
    const last = Math.min(end, start + to - before);
    if (first < last) kept.push({ block, start: first, end: last });
    before += end - start;
  }
  return kept;
}

const idsOf = (slices: readonly BlockSlice[]): readonly BlockId[] => [...new Set(slices.map(({ block }) => block.id))];

/** Each part releases its blocks; the engine is told of a block when the last part has released it. */
function sharedBlocks(engine: Engine, parts: readonly (readonly BlockSlice[])[]): Pick<Engine, "release"> {
  const holders = new Map<BlockId, number>();
  for (const id of parts.flatMap(idsOf)) holders.set(id, (holders.get(id) ?? 0) + 1);
  return {
    release(blocks) {
      const last = blocks.filter((id) => {
        const left = (holders.get(id) ?? 1) - 1;
        holders.set(id, left);
        return left === 0;
      });
      if (last.length > 0) engine.release(last);
    },
  };
}
