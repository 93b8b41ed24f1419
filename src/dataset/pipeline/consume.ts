/** Runs a pipeline's windows one after the other: the next one starts when the one before has been consumed. */
import type { ValueOptions } from "../../arrow/index.ts";
import { limit, type Plan } from "../../plan/index.ts";
import type { FileFormat, JobStats } from "../../protocol/index.ts";
import { type Blocks, blocksOf, type Run } from "../consume/blocks.ts";
import { countRows } from "../consume/count.ts";
import { collectRows } from "../consume/rows.ts";
import { type WriteOptions, type WriteSummary, writeFiles } from "../write.ts";
import { allWindows, epochWindows, isEndless, type Recipe } from "./recipe.ts";

/** What consuming a pipeline needs of it. */
export interface PipelineRun {
  readonly recipe: Recipe;
  /** Told the figures of each run that has ended well. */
  ended(stats: JobStats): void;
}

function runOf({ recipe, ended }: PipelineRun, plan: Plan): Run {
  return { engine: recipe.engine, plan, ended };
}

/** The blocks of all windows of all epochs. An endless pipeline ends after an epoch without rows, or it would go round for ever. */
export function blocksOfWindows(run: PipelineRun): Blocks {
  return async function* (prefetch, left) {
    const { recipe } = run;
    for (let epoch = 0; epoch < recipe.epochs; epoch++) {
      let rows = 0;
      for await (const window of epochWindows(recipe, epoch)) {
        for await (const block of blocksOf(runOf(run, window), prefetch, left)) {
          rows += block.slice.end - block.slice.start;
          yield block;
        }
        if (left.aborted) return;
      }
      if (rows === 0 && isEndless(recipe)) return;
    }
  };
}

/** The first rows; null: all. */
export async function takeRows<R>(run: PipelineRun, wanted: number | null, values: ValueOptions): Promise<R[]> {
  const { recipe } = run;
  const rows: R[] = [];
  if (wanted === 0) return rows;
  for (let epoch = 0; epoch < recipe.epochs; epoch++) {
    const before = rows.length;
    for await (const window of epochWindows(recipe, epoch)) {
      const head = wanted === null ? window : limit(window, 0, wanted - rows.length);
      for (const row of await collectRows<R>(runOf(run, head), values)) rows.push(row);
      if (rows.length === wanted) return rows;
    }
    if (rows.length === before && isEndless(recipe)) return rows;
  }
  return rows;
}

export async function countAll(run: PipelineRun): Promise<number> {
  let rows = 0;
  for await (const window of allWindows(run.recipe)) rows += await countRows(runOf(run, window));
  return rows;
}

/** Each window's files appear when it is complete; `mode` is about what was there before the first. */
export async function writeWindows(
  run: PipelineRun,
  format: FileFormat,
  directory: string,
  options: WriteOptions,
): Promise<WriteSummary> {
  const files: string[] = [];
  let rows = 0;
  let bytes = 0;
  let next = options;
  for await (const window of allWindows(run.recipe)) {
    const written = await writeFiles(runOf(run, window), format, directory, next);
    files.push(...written.files);
    rows += written.rows;
    bytes += written.bytes;
    next = { ...options, mode: "append" };
  }
  return { files, rows, bytes };
}
