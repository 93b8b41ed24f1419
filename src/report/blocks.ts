/** Blocks as people ask for them: how much of which operator lies where, since when, and who holds it. */
import type { BlockView, SessionState } from "../events/index.ts";
import type { BlockId, Bytes, Milliseconds } from "../protocol/index.ts";

export interface BlockGroup {
  /** "the program" for blocks that no task made. */
  readonly operator: string;
  readonly job: string | null;
  readonly blocks: number;
  readonly bytes: Bytes;
  readonly inMemory: Bytes;
  readonly onDisk: Bytes;
  /** Age of the oldest block. */
  readonly oldest: Milliseconds;
  readonly holders: readonly string[];
}

interface ListedBlock {
  readonly id: BlockId;
  readonly operator: string;
  readonly bytes: Bytes;
  readonly rows: number;
  readonly where: "memory" | "disk" | "lost";
  readonly age: Milliseconds;
  readonly holder: string;
  /** The worker whose managed memory counts the block. */
  readonly worker: number | null;
}

const NOBODY = "the program";

/** The largest groups first. */
export function blockGroups(state: SessionState): readonly BlockGroup[] {
  const groups = new Map<string, BlockView[]>();
  for (const block of state.blocks.values()) {
    const key = `${block.job}/${block.operator}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [block]);
    else group.push(block);
  }
  return [...groups.values()].map((blocks) => groupOf(state, blocks)).sort((a, b) => b.bytes - a.bytes);
}

function groupOf(state: SessionState, blocks: readonly BlockView[]): BlockGroup {
  const sum = (of: readonly BlockView[]) => of.reduce((total, { bytes }) => total + bytes, 0);
  const [first] = blocks;
  return {
    operator: first === undefined ? NOBODY : operatorName(state, first),
    job: first?.job ?? null,
    blocks: blocks.length,
    bytes: sum(blocks),
    inMemory: sum(blocks.filter((block) => whereOf(block) === "memory")),
    onDisk: sum(blocks.filter((block) => whereOf(block) === "disk")),
    oldest: blocks.reduce((most, { madeAt }) => Math.max(most, state.at - madeAt), 0),
    holders: [...new Set(blocks.map((block) => holderOf(state, block)))].sort(),
  };
}

export function largestBlocks(state: SessionState, most: number): readonly ListedBlock[] {
  return [...state.blocks.values()]
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, most)
    .map((block) => ({
      id: block.id,
      operator: operatorName(state, block),
      bytes: block.bytes,
      rows: block.rows,
      where: whereOf(block),
      age: state.at - block.madeAt,
      holder: holderOf(state, block),
      worker: block.worker,
    }));
}

/** A block that is being spilled is still in memory, and a block that is being restored is still on disk. */
function whereOf({ state }: BlockView): ListedBlock["where"] {
  if (state === "lost") return "lost";
  return state === "spilled" || state === "restoring" ? "disk" : "memory";
}

function operatorName(state: SessionState, { job, operator }: BlockView): string {
  if (job === null || operator === null) return NOBODY;
  const plan = state.jobs.get(job)?.operators.find((one) => one.plan.id === operator)?.plan;
  return plan?.name ?? `operator ${operator} of job ${job}`;
}

/**
 * The program holds the blocks that were delivered to it. Any other block is held for the operator that will read it.
 */
function holderOf(state: SessionState, { job, operator, isDelivered }: BlockView): string {
  if (isDelivered || job === null) return "program";
  const view = state.jobs.get(job);
  if (view === undefined) return "program";
  const readers = view.operators.filter(({ plan }) => operator !== null && plan.inputs.includes(operator));
  const [reader] = readers;
  return reader === undefined ? `job ${job}, for the program` : `job ${job}, for ${reader.plan.name}`;
}
