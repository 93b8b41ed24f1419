/** Blocks in the reducer: made, moved between memory and disk, handed to the program, freed. */
import type { BlockEvent, BlockState, Milliseconds } from "../protocol/index.ts";
import { type BlockView, operatorOf, type SessionState } from "./state.ts";
import { bucketAt } from "./timeline.ts";

type Timed<Type extends BlockEvent["type"]> = Extract<BlockEvent, { type: Type }> & { readonly at: Milliseconds };

export function applyBlock(state: SessionState, event: Timed<BlockEvent["type"]>): void {
  if (event.type === "blockMade") {
    blockMade(state, event);
    return;
  }
  if (event.type === "blockDelivered") {
    const job = state.jobs.get(event.job);
    if (job !== undefined) job.rowsDelivered += event.rows;
  }
  const block = state.blocks.get(event.block);
  if (block === undefined) return;
  switch (event.type) {
    case "block":
      blockMoved(state, block, event.to, event.at);
      return;
    case "blockDelivered":
      block.isDelivered = true;
      return;
    case "blockFreed":
      state.blocks.delete(block.id);
      state.store.freed += 1;
      return;
  }
}

function blockMade(state: SessionState, { block: id, bytes, rows, task, worker, at }: Timed<"blockMade">): void {
  const maker = task === null ? undefined : state.tasks.get(task);
  const job = maker?.job ?? null;
  const operator = maker?.operator ?? null;
  state.blocks.set(id, {
    id,
    bytes,
    rows,
    madeAt: at,
    job,
    operator,
    worker,
    state: "resident",
    isDelivered: task === null,
  });
  state.store.made += 1;
  state.store.madeBytes += bytes;
  const totals = job === null || operator === null ? undefined : operatorOf(state, job, operator);
  if (totals === undefined) return;
  totals.blocks += 1;
  totals.blockBytes += bytes;
}

function blockMoved(state: SessionState, block: BlockView, to: BlockState, at: Milliseconds): void {
  const { store, timeline } = state;
  const from = block.state;
  block.state = to;
  // A block that was read meanwhile stays in memory, and has been written all the same: that is not told apart here.
  if (to === "spilled" && from === "spilling") {
    store.spilled += 1;
    store.spilledBytes += block.bytes;
    bucketAt(timeline, at).spilledBytes += block.bytes;
  } else if (to === "resident" && from === "restoring") {
    store.restored += 1;
    store.restoredBytes += block.bytes;
    bucketAt(timeline, at).restoredBytes += block.bytes;
  } else if (to === "lost") store.lost += 1;
}
