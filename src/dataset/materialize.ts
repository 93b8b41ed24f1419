/** Runs a plan now and keeps its blocks, so that what is built on the result does not run it again. */
import type { Column } from "../plan/index.ts";
import type { BlockSlice } from "../protocol/index.ts";
import { blocksOf, type Run } from "./consume/blocks.ts";
import { BlockHold, columnsOfBatch } from "./sources/blocks.ts";

/** A block that is kept gives no credit back for another, so there must be credit for all from the start. */
const EVERY_BLOCK = 2 ** 31;

export interface Materialized {
  readonly slices: readonly BlockSlice[];
  readonly columns: readonly Column[] | null;
  readonly hold: BlockHold;
}

export async function materialized(run: Run): Promise<Materialized> {
  const slices: BlockSlice[] = [];
  let columns: readonly Column[] | null = null;
  try {
    for await (const block of blocksOf(run, EVERY_BLOCK)) {
      slices.push(block.slice);
      columns ??= columnsOfBatch(block.read());
    }
  } catch (error) {
    run.engine.release(slices.map(({ block }) => block.id));
    throw error;
  }
  const hold = new BlockHold(
    run.engine,
    slices.map(({ block }) => block.id),
  );
  return { slices, columns, hold };
}
