/** Blocks in the reducer: made, moved between memory and disk, handed to the program, freed. */
import type { BlockEvent, Milliseconds } from "../protocol/index.ts";
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
      blockMoved(state, block, event);
      return;
    case "blockDelivered":
      block.isDelivered = true;
      return;
    case "blockFreed":
      count(state, block, -1);
      state.blocks.delete(block.id);
      state.store.freed += 1;
      return;
  }
}

function blockMade(state: SessionState, { block: id, bytes, rows, task, worker, at }: Timed<"blockMade">): void {
  const maker = task === null ? undefined : state.tasks.get(task);
  const job = maker?.job ?? null;
  const operator = maker?.operator ?? null;
  const isDelivered = task === null;
  const block: BlockView = { id, bytes, rows, madeAt: at, job, operator, worker, state: "resident", isDelivered };
  state.blocks.set(id, block);
  count(state, block, 1);
  state.store.made += 1;
  state.store.madeBytes += bytes;
  const totals = job === null || operator === null ? undefined : operatorOf(state, job, operator);
  if (totals === undefined) return;
  totals.blocks += 1;
  totals.blockBytes += bytes;
}

function blockMoved(state: SessionState, block: BlockView, { to, at, isWritten }: Timed<"block">): void {
  const { store, running, timeline } = state;
  const { state: from, bytes } = block;
  count(state, block, -1);
  block.state = to;
  count(state, block, 1);
  const { job: maker, operator } = block;
  const totals = maker === null || operator === null ? undefined : operatorOf(state, maker, operator);
  if (from === "spilling" && (to === "spilled" || isWritten === true)) {
    store.spilled += 1;
    store.spilledBytes += bytes;
    for (const job of running) job.spilledBytes += bytes;
    if (totals !== undefined) totals.spilledBytes += bytes;
    bucketAt(timeline, at).spilledBytes += bytes;
  } else if (to === "resident" && from === "restoring") {
    store.restored += 1;
    store.restoredBytes += bytes;
    for (const job of running) job.restoredBytes += bytes;
    if (totals !== undefined) totals.restoredBytes += bytes;
    bucketAt(timeline, at).restoredBytes += bytes;
  } else if (to === "lost") store.lost += 1;
}

/** Where the block is: in memory also while it is on its way, and nowhere when it is lost. */
function count({ store, running }: SessionState, { state, bytes }: BlockView, times: 1 | -1): void {
  if (state === "lost") return;
  if (state === "spilled") {
    store.onDisk += times * bytes;
    return;
  }
  store.inMemory += times * bytes;
  for (const job of running) job.peakStoreBytes = Math.max(job.peakStoreBytes, store.inMemory);
}
