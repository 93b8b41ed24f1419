/** Runs a plan and gives its blocks one by one; leaving early cancels the job and frees what it holds. */
import { concatBatches, type RecordBatch } from "../../arrow/index.ts";
import type { Plan } from "../../plan/index.ts";
import type { JobStats } from "../../protocol/index.ts";
import type { Engine, ReceivedBlock } from "../engine.ts";
import { startBlocks } from "../run.ts";
import type { Cancellation } from "./cancellation.ts";

/** What consuming a dataset needs of it. */
export interface Run {
  readonly engine: Engine;
  readonly plan: Plan;
  /** Told the figures when a run has ended well. */
  ended(stats: JobStats): void;
  readonly cancellation: Cancellation;
  /** Blocks in the order of the input, whatever the session says. */
  readonly inOrder?: boolean;
}

/** Blocks for a reader that may leave while it waits for the next one, which `left` tells. */
export type Blocks = (prefetch: number, left: AbortSignal) => AsyncGenerator<ReceivedBlock, void, undefined>;

export const DEFAULT_PREFETCH = 2;

/**
 * `left` cancels although the next block is still waited for, which leaving a generator cannot: it would wait as well.
 * `keeps`: whoever reads them keeps the blocks.
 */
export async function* blocksOf(
  run: Run,
  prefetch = DEFAULT_PREFETCH,
  left?: AbortSignal,
  keeps = false,
): AsyncGenerator<ReceivedBlock, void, undefined> {
  const isLeft = () => left?.aborted === true;
  if (isLeft()) return;
  const { cancellation } = run;
  const order = run.inOrder === true ? { preserveOrder: true } : {};
  const job = await startBlocks(run.engine, run.plan, { wantBlocks: prefetch, keeps, cancellation, ...order });
  const cancel = () => void job.cancel();
  const forget = cancellation.onCancel(cancel);
  if (isLeft()) await job.cancel();
  left?.addEventListener("abort", cancel);
  try {
    yield* job;
  } catch (error) {
    if (isLeft()) return;
    throw cancellation.judged(error);
  } finally {
    forget();
    left?.removeEventListener("abort", cancel);
  }
  run.ended((await job.finished).stats);
}

/** Each block in memory of its own. */
export async function copiesOfBlocks(run: Run): Promise<RecordBatch[]> {
  const copies: RecordBatch[] = [];
  for await (const block of blocksOf(run)) {
    try {
      copies.push(concatBatches([block.read()]));
    } finally {
      block.release();
    }
  }
  return copies;
}
