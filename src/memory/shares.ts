/**
 * How a node's memory is divided among the processes of a session before anything runs. The store's capacity is given,
 * the program and the supervisor need a fixed part, and the workers share the rest. Only arithmetic; limits are
 * enforced elsewhere.
 */
import type { Bytes } from "../protocol/index.ts";

const MIB = 2 ** 20;

/** The supervisor takes 10 MiB of its own, a program that reads batches up to 70 MiB (measured in memory boxes). */
const PROGRAM_AND_SUPERVISOR: Bytes = 64 * MIB;
/**
 * A worker takes 40 MiB before the first row, 100 MiB if it writes Parquet in its smallest pieces, and 150 MiB if rows
 * go through a function and are scattered to partitions.
 */
const WORKER: Bytes = 150 * MIB;
/** A row group of a Parquet file must fit. */
const SMALLEST_KERNEL: Bytes = 96 * MIB;
/** The rest of a worker's share is for its kernel and for buffers outside the heap. */
const HEAP_SHARE = 0.75;
/** A process with its libraries, and its kernel at work. */
const BESIDE_HEAP: Bytes = 40 * MIB + SMALLEST_KERNEL;
/** Below this a worker cannot even load. */
const SMALLEST_HEAP: Bytes = 32 * MIB;

/** The share that a worker's kernel may use. Functions and the blocks they make use the rest. */
const KERNEL_SHARE = 0.25;

export interface Node {
  readonly memory: Bytes;
  readonly cores: number;
  /** The store's capacity. */
  readonly store: Bytes;
}

/** One worker a core, or as many as there is memory for; always one. */
export function workersThatFit({ memory, cores, store }: Node): number {
  return Math.max(1, Math.min(cores, Math.floor((memory - store - PROGRAM_AND_SUPERVISOR) / WORKER)));
}

/** How many workers more there is memory for, if blocked work needs additional workers for a while. */
export function extraWorkersThatFit({ memory, store }: Node, workers: number): number {
  return Math.max(0, Math.floor((memory - store - PROGRAM_AND_SUPERVISOR) / WORKER) - workers);
}

/** A worker's share of the memory is its share of the cores, even if there are more workers than cores. */
export function automaticLimit({ memory, cores }: Node, workers: number): Bytes {
  const threads = Math.max(1, Math.floor(cores / workers));
  return Math.floor(memory * Math.min(1, threads / cores));
}

/**
 * Page tables and other memory of the system inside a control group, when nearly all of the group's memory is in use.
 */
const SYSTEM: Bytes = 32 * MIB;

/** For the program, the supervisor and the system, and for a worker with little work. */
export const fixedShares = {
  overhead: PROGRAM_AND_SUPERVISOR + SYSTEM,
  program: PROGRAM_AND_SUPERVISOR,
  worker: WORKER,
};

/** How much a worker's kernel may hold before it writes to disk. */
export function kernelThatFits({ memory, store }: Node, workers: number): Bytes {
  return Math.max(SMALLEST_KERNEL, Math.floor(((memory - store - PROGRAM_AND_SUPERVISOR) / workers) * KERNEL_SHARE));
}

/** The V8 heap of each worker, so that all heaps, a full store and the program fit together. */
export function heapThatFits({ memory, store }: Node, workers: number): Bytes {
  const share = (memory - store - PROGRAM_AND_SUPERVISOR) / workers;
  // If the share is a few hundred MiB, memory outside the heap limits the heap. A smaller share leaves no choice.
  const beside = share > BESIDE_HEAP ? Math.max(share / 2, share - BESIDE_HEAP) : share;
  return Math.max(SMALLEST_HEAP, Math.floor(Math.min(share * HEAP_SHARE, beside)));
}

/** V8's old space in a worker with a memory limit of its own. */
export function heapFor(memory: Bytes): Bytes {
  return Math.floor(memory * HEAP_SHARE);
}
