/** Runs a pipeline's windows one after the other: the next one starts when the previous one has been consumed. */
import { realpath } from "node:fs/promises";
import { sep } from "node:path";
import type { ValueOptions } from "../../arrow/index.ts";
import { WriteError } from "../../errors/index.ts";
import { limit, type Plan } from "../../plan/index.ts";
import type { FileFormat, JobStats } from "../../protocol/index.ts";
import { type Blocks, blocksOf, type Run } from "../consume/blocks.ts";
import type { Cancellation } from "../consume/cancellation.ts";
import { countRows } from "../consume/count.ts";
import { collectRows } from "../consume/rows.ts";
import { type WriteOptions, type WriteSummary, writeFiles, writerNames } from "../write.ts";
import { localDirectory } from "../write-place.ts";
import { allWindows, epochWindows, isEndless, type Recipe } from "./recipe.ts";
import { scansOf } from "./windows.ts";

/** What a consuming call needs to know about its pipeline. */
export interface PipelineRun {
  readonly recipe: Recipe;
  /** Called a few times a second with the figures so far of the window that runs. */
  going(stats: JobStats | null): void;
  /** Called with the figures of each run that has ended well. */
  ended(stats: JobStats): void;
  readonly cancellation: Cancellation;
  readonly inOrder?: boolean;
}

function runOf({ recipe, going, ended, cancellation, inOrder = false }: PipelineRun, plan: Plan): Run {
  return { engine: recipe.engine, plan, going, ended, cancellation, inOrder };
}

/**
 * The blocks of all windows of all epochs. An endless pipeline ends after an epoch without rows, because it would never
 * give one.
 */
export function blocksOfWindows(run: PipelineRun): Blocks {
  return run.cancellation.overBlocks(async function* (prefetch, left) {
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
  });
}

/** The first rows; null: all rows. */
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

/**
 * The files of each window appear when the window is complete. `mode` refers to files that were there before the first
 * window.
 */
export async function writeWindows(
  run: PipelineRun,
  format: FileFormat,
  directory: string | URL,
  options: WriteOptions,
): Promise<WriteSummary> {
  const files: string[] = [];
  let rows = 0;
  let bytes = 0;
  let next = options;
  if (options.mode === "overwrite") await checkReadsElsewhere(run.recipe.plan, format, directory);
  for await (const window of allWindows(run.recipe)) {
    const written = await writeFiles(runOf(run, window), format, directory, next);
    files.push(...written.files);
    rows += written.rows;
    bytes += written.bytes;
    next = { ...options, mode: "append" };
  }
  return { files, rows, bytes };
}

/**
 * Refuses to overwrite what the pipeline reads: the first window would remove files of the directory that later windows
 * still read.
 */
async function checkReadsElsewhere(plan: Plan, format: FileFormat, directory: string | URL): Promise<void> {
  const operator = writerNames[format];
  const shown = localDirectory(operator, directory);
  const real = await realpath(shown).catch(() => shown);
  for (const { source } of scansOf(plan)) {
    for (const file of (await source.files?.()) ?? []) {
      if (!(await realpath(file)).startsWith(real + sep)) continue;
      throw new WriteError(
        `${operator}: this pipeline reads ${file} in ${shown}, which its first window would overwrite. Nothing was changed. ` +
          "Write to another directory, or write the dataset without window.",
        shown,
      );
    }
  }
}
