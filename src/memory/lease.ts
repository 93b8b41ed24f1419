/**
 * How much memory a kernel may use in a process that may have so much. Only arithmetic; who has what is the
 * scheduler's.
 */
import type { Bytes, KernelLease } from "../protocol/index.ts";

export interface MemoryPool {
  /** All that the session may have. */
  readonly memory: Bytes;
  /** For the program and the supervisor. */
  readonly overhead: Bytes;
  /** For a worker that has nothing to do. */
  readonly worker: Bytes;
  readonly threads: number;
}

const MIB = 2 ** 20;
/** A process with its libraries before the first row. */
const PROCESS: Bytes = 60e6;
/**
 * What a process takes for a byte of its kernel's buffers: up to 1.8, the less the more they are. Sorts and joins of 60
 * M rows took 1.1 times a limit of 940 MiB (`npm run bench -- --only box-2GiB`).
 */
const PER_BUFFER_BYTE = 1.6;
const PER_BUFFER_BYTE_OF_MANY = 1.35;
/** Sorts and joins that ran out of buffers had taken 1.1 for each (`test/boxed`, 1 kB rows in 512 MiB). */
const PER_BUFFER_BYTE_AT_LAST = 1.2;
const MANY: Bytes = 1024 * MIB;
/** Below this one thread gets through where two run out of memory. */
const ONE_THREAD_BELOW: Bytes = 512 * MIB;
/** With less no kernel can do anything: then it has what others are counted as having and mostly do not. */
const LEAST: Bytes = 48 * MIB;

/** `isLastResort`: it has run out of buffers before, while its process had memory left. */
export function kernelLease(process: Bytes, threads: number, isLastResort = false): KernelLease {
  const perByte = isLastResort ? PER_BUFFER_BYTE_AT_LAST : process < MANY ? PER_BUFFER_BYTE : PER_BUFFER_BYTE_OF_MANY;
  const memory = Math.max(LEAST, Math.floor((process - PROCESS) / perByte));
  return { memory, threads: process < ONE_THREAD_BELOW ? 1 : threads };
}

/**
 * For a kernel that was killed for what it took beside its buffers (the texts of aggregates are there): more of the
 * rest.
 */
export function squeezed({ memory }: KernelLease, times: number): KernelLease {
  return { memory: memory === null ? LEAST : Math.max(LEAST, Math.floor(memory / 4 ** times)), threads: 1 };
}

/** What the wide kernel is started with. */
export function firstLease(pool: MemoryPool, store: Bytes, workers: number): KernelLease {
  return kernelLease(Math.max(0, pool.memory - pool.overhead - store - workers * pool.worker), pool.threads);
}
