/**
 * What a session will need of the machine's memory at most, before it runs: each execution slot holds the block that it
 * makes.
 */
import { nodeMemory, planFigures, planRows } from "../memory/index.ts";
import type { Bytes } from "../protocol/index.ts";
import type { ResolvedOptions } from "./options.ts";

/** Sizes are bytes. */
export interface MemoryPlan {
  /** Workers: each runs one task at a time. */
  readonly slots: number;
  readonly maxBlockSize: Bytes;
  /** slots × maxBlockSize. */
  readonly expectedHeap: Bytes;
  /** The capacity of the store for blocks, in shared memory. */
  readonly objectStore: Bytes;
  /** The limit of one worker; null: none. */
  readonly memoryLimit: Bytes | null;
  /** The machine's memory, or that of its container. */
  readonly node: Bytes;
  /** The plan in words. */
  toString(): string;
}

export function memoryPlan({ workers, targetMaxBlockSize, capacity, workerMemory }: ResolvedOptions): MemoryPlan {
  const plan = planFigures({
    ...{ workers, capacity, workerMemory },
    maxBlockSize: targetMaxBlockSize,
    nodeMemory: nodeMemory(),
  });
  const lines = () => planRows(plan).map(([name, value]) => `${name}: ${value}`);
  return { ...plan, toString: () => lines().join("\n") };
}
