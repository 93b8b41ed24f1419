/** Runs a plan now and keeps its blocks, so that what is built on the result does not run it again. */
import { type Schema, unifySchemas } from "../arrow/index.ts";
import { StoreError } from "../errors/index.ts";
import { type Column, isOrdered, type Source } from "../plan/index.ts";
import type { BlockSlice } from "../protocol/index.ts";
import { blocksOf, DEFAULT_PREFETCH, type Run } from "./consume/blocks.ts";
import { columnsBefore } from "./consume/schema.ts";
import type { Engine } from "./engine.ts";
import { BlockHold } from "./sources/block-hold.ts";
import { blocksSource, columnsOfBatch } from "./sources/blocks.ts";

export interface Materialized {
  readonly slices: readonly BlockSlice[];
  readonly columns: readonly Column[] | null;
  readonly hold: BlockHold;
  /** The blocks are in an order that was asked for, and are read in it. */
  readonly ordered: boolean;
}

export async function materialized(run: Run): Promise<Materialized> {
  const slices: BlockSlice[] = [];
  let schema: Schema | null = null;
  try {
    for await (const block of blocksOf(run, DEFAULT_PREFETCH, undefined, true)) {
      const found = block.read().schema;
      slices.push(block.keep());
      // A block of nothing but nulls says less of a type than a later one.
      schema = schema === null ? found : (unifySchemas(schema, found) ?? schema);
    }
  } catch (error) {
    run.engine.release(slices.map(({ block }) => block.id));
    throw error;
  }
  const hold = new BlockHold(
    run.engine,
    slices.map(({ block }) => block.id),
  );
  const ordered = isOrdered(run.plan);
  const columns = schema === null ? await columnsBefore(run) : columnsOfBatch({ schema });
  return { slices, columns, hold, ordered };
}

/** The blocks as a source, which keeps them as long as something can read from it. */
export function heldSource(engine: Engine, name: string, result: Promise<Materialized>, ordered: boolean): Source {
  const blocks = blocksSource(engine, name, "rows in the store", async () => {
    const { hold, slices, columns } = await result;
    if (hold.released) throw new StoreError("The materialised dataset was disposed of; its rows are gone.");
    return { slices, columns };
  });
  const source = { ...blocks, ordered };
  result.then(
    ({ hold }) => hold.follow(source),
    () => {},
  );
  return source;
}
