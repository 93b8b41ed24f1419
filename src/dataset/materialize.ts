/** Runs a plan now and keeps its blocks, so that datasets built on the result do not run it again. */
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
  /** The order of the blocks was asked for, and they are read in that order. */
  readonly ordered: boolean;
}

export async function materialized(run: Run): Promise<Materialized> {
  const slices: BlockSlice[] = [];
  let schema: Schema | null = null;
  try {
    for await (const block of blocksOf(run, DEFAULT_PREFETCH, undefined, true)) {
      const found = block.read().schema;
      slices.push(block.keep());
      // A later block may know a type better: a block with only nulls in a column does not tell its type.
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

/** The blocks as a source. It keeps them as long as the program can read from it. */
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
