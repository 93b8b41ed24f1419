/**
 * What a session will need of the machine's memory at most: each execution slot holds the block that it makes. The
 * program tells it before anything runs, and readers of events show it.
 */
import type { Bytes } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";

/** Sizes are bytes. */
export interface MemoryPlanFigures {
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
}

interface Planned {
  readonly workers: number;
  readonly maxBlockSize: Bytes;
  readonly capacity: Bytes;
  readonly workerMemory: Bytes | null;
  /** The machine's memory, or that of its container. */
  readonly nodeMemory: Bytes;
}

export function planFigures({ workers, maxBlockSize, capacity, workerMemory, nodeMemory }: Planned): MemoryPlanFigures {
  return {
    slots: workers,
    maxBlockSize,
    expectedHeap: workers * maxBlockSize,
    objectStore: capacity,
    memoryLimit: workerMemory,
    node: nodeMemory,
  };
}

/** Each figure with its name, in words. */
export function planRows(plan: MemoryPlanFigures): readonly (readonly [name: string, value: string])[] {
  const { slots, maxBlockSize, expectedHeap, objectStore, memoryLimit, node } = plan;
  return [
    ["Expected heap memory usage", `${megabytes(expectedHeap)} (${slots} execution slots × max block size)`],
    ["Max block size", megabytes(maxBlockSize)],
    ["Object store", `${formatSize(objectStore)} of the machine's ${formatSize(node)}`],
    ["Memory limit", memoryLimit === null ? "none" : `${formatSize(memoryLimit)} for each of ${slots} workers`],
  ];
}

function megabytes(bytes: Bytes): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
