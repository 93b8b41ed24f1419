/**
 * Rows that the program holds: items, Arrow tables, materialised results. They are in the store as blocks. The
 * program's reference ends when nothing can read them any more.
 */
import { evenSlices, type RecordBatch, typeName } from "../../arrow/index.ts";
import { StoreError } from "../../errors/index.ts";
import { type Column, nothingSkipped, type OpenSource, type ScanRequest, type Source } from "../../plan/index.ts";
import type { BlockSlice, Bytes, Split } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import { BlockHold } from "./block-hold.ts";
import { bundled, cutByRows, taskCount } from "./splitting.ts";

/**
 * Share of the store for the input of one task: all blocks of a task are in memory while it runs, next to those of
 * other tasks and to its output.
 */
const TASK_SHARE = 1 / 8;
/** The same share, if the user chose the number of tasks. */
const OVERRIDE_SHARE = 1 / 2;

interface HeldBlocks {
  readonly slices: readonly BlockSlice[];
  readonly columns: readonly Column[] | null;
}

export function columnsOfBatch(batch: Pick<RecordBatch, "schema">): readonly Column[] {
  return batch.schema.fields.map(({ name, type }) => ({ name, type: typeName(type) }));
}

/** Batches in the program's own memory. They are put into the store when first needed. */
export function batchesSource(
  engine: Engine,
  name: string,
  batches: readonly RecordBatch[],
  overrideNumBlocks: number | null,
): Source {
  const rows = batches.reduce((sum, batch) => sum + batch.length, 0);
  const [first] = batches;
  const columns = first === undefined ? [] : columnsOfBatch(first);
  let waiting: readonly RecordBatch[] = batches;
  let stored: Promise<readonly BlockSlice[]> | null = null;
  const source: Source = { name, label: `${rows} rows`, open: async () => opened };
  const opened = openBlocks(engine, columns, rows, overrideNumBlocks, () => {
    stored ??= store(engine, name, waiting, source).then((slices) => {
      waiting = [];
      return slices;
    });
    stored.catch(() => {
      stored = null;
    });
    return stored;
  });
  return source;
}

async function store(
  engine: Engine,
  name: string,
  batches: readonly RecordBatch[],
  owner: object,
): Promise<readonly BlockSlice[]> {
  const slices: BlockSlice[] = [];
  try {
    for (const batch of batches) {
      for (const part of evenSlices(batch, engine.settings.targetMaxBlockSize)) {
        const block = await engine.put(part).catch((error: unknown) => {
          throw part.length === 1 && error instanceof StoreError
            ? new StoreError(`${name}: one row does not fit. ${error.message}`)
            : error;
        });
        slices.push({ block, start: 0, end: part.length });
      }
    }
  } catch (error) {
    engine.release(slices.map(({ block }) => block.id));
    throw error;
  }
  const hold = new BlockHold(
    engine,
    slices.map(({ block }) => block.id),
  );
  hold.follow(owner);
  return slices;
}

/** Blocks that are already in the store; their maker decides how long they stay. Each read asks for them again. */
export function blocksSource(engine: Engine, name: string, label: string, held: () => Promise<HeldBlocks>): Source {
  return {
    name,
    label,
    async open() {
      const { slices, columns } = await held();
      const still = async () => (await held()).slices;
      const opened = openBlocks(engine, columns, rowsOf(slices), null, still);
      return { ...opened, countRows: async () => rowsOf(await still()) };
    },
  };
}

export function openBlocks(
  engine: Engine,
  columns: readonly Column[] | null,
  rows: number,
  override: number | null,
  slices: () => Promise<readonly BlockSlice[]>,
): OpenSource {
  return {
    columns: columns !== null && columns.length === 0 && rows === 0 ? null : columns,
    partitionColumns: [],
    // Leaving out a column of a block saves nothing, and the SELECT for it costs a pass over the other columns.
    prunes: false,
    samples: false,
    countRows: async () => rows,
    async splits({ limit }: ScanRequest) {
      const all = await slices();
      const wanted = limit === null ? rows : Math.min(rows, limit);
      const needed = firstRows(all, wanted);
      return {
        splits: cutSlices(engine, needed, override).map((part): Split => ({ kind: "blocks", slices: part })),
        mayMerge: override === null,
        skipped: { ...nothingSkipped, rows: rows - wanted },
        notes: [],
      };
    },
    async cut() {
      const all = await slices();
      // Each stored block is a task of its own, unless the user asked for a number of tasks.
      const parts = override === null ? all.map((slice) => [slice]) : cutSlices(engine, all, override);
      return {
        sizes: parts.map(bytesOf),
        stretch(from, to) {
          const kept = parts.slice(from, to).flat();
          return openBlocks(engine, columns, rowsOf(kept), override === null ? null : to - from, async () => kept);
        },
      };
    },
  };
}

function cutSlices(
  engine: Engine,
  slices: readonly BlockSlice[],
  override: number | null,
): readonly (readonly BlockSlice[])[] {
  const rows = rowsOf(slices);
  const bytes = bytesOf(slices);
  const asked = taskCount({ bytes, rows, pieces: rows }, override, engine.settings);
  const share = override === null ? TASK_SHARE : OVERRIDE_SHARE;
  const count = Math.min(rows, Math.max(asked, Math.ceil(bytes / (engine.settings.capacity * share))));
  if (override !== null) return cutRows(slices, count);
  if (count <= slices.length) return bundled(slices, count, (slice) => bytesOf([slice]));
  // Each block is cut alone: a task with parts of two blocks would keep both in memory.
  return slices.flatMap((slice) => cutRows([slice], Math.ceil((count * (slice.end - slice.start)) / rows)));
}

function cutRows(slices: readonly BlockSlice[], count: number): readonly (readonly BlockSlice[])[] {
  return cutByRows(slices, count, ({ start, end }) => end - start).map((part) =>
    part.map(({ item, start, end }) => ({ block: item.block, start: item.start + start, end: item.start + end })),
  );
}

function rowsOf(slices: readonly BlockSlice[]): number {
  return slices.reduce((sum, { start, end }) => sum + end - start, 0);
}

function bytesOf(slices: readonly BlockSlice[]): Bytes {
  return slices.reduce((sum, { block, start, end }) => sum + (block.length * (end - start)) / block.rows, 0);
}

function firstRows(slices: readonly BlockSlice[], rows: number): readonly BlockSlice[] {
  const kept: BlockSlice[] = [];
  let left = rows;
  for (const slice of slices) {
    if (left <= 0) break;
    const end = Math.min(slice.end, slice.start + left);
    kept.push({ ...slice, end });
    left -= end - slice.start;
  }
  return kept;
}
