/** Runs a plan and gives its blocks one by one. Leaving early cancels the job and frees what it holds. */
import { concatBatches, type RecordBatch } from "../../arrow/index.ts";
import type { Plan } from "../../plan/index.ts";
import type { JobStats } from "../../protocol/index.ts";
import type { Engine, ReceivedBlock } from "../engine.ts";
import { startBlocks } from "../run.ts";
import type { Cancellation } from "./cancellation.ts";

/** What a consuming call needs to know about its dataset. */
export interface Run {
  readonly engine: Engine;
  readonly plan: Plan;
  /** Called a few times a second with the figures so far. Null: it ended early, before there were any. */
  going(stats: JobStats | null): void;
  /** Called with the figures of a run that has ended well. */
  ended(stats: JobStats): void;
  readonly cancellation: Cancellation;
  /** Gives the blocks in the order of the input, whatever the session's setting. */
  readonly inOrder?: boolean;
}

/** Gives blocks to a reader that may leave while it waits for the next one. `left` tells that it has left. */
export type Blocks = (prefetch: number, left: AbortSignal) => AsyncGenerator<ReceivedBlock, void, undefined>;

export const DEFAULT_PREFETCH = 2;

/**
 * `left` cancels the job even while the next block is awaited. `return()` of a generator cannot: it would wait for that
 * block, too. `keeps`: the reader keeps the blocks.
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
  const job = await startBlocks(run.engine, run.plan, {
    wantBlocks: prefetch,
    keeps,
    cancellation,
    going: (stats) => run.going(stats),
    ...order,
  });
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

/** Copies each block into memory of its own. */
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
