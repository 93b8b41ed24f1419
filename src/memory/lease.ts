/**
 * How much memory the kernel of a process may use, given what the process may use. Only arithmetic; the scheduler
 * decides which process gets how much.
 */
import type { Bytes, KernelLease } from "../protocol/index.ts";

export interface MemoryPool {
  /** All memory that the session may use. */
  readonly memory: Bytes;
  /** For the program and the supervisor. */
  readonly overhead: Bytes;
  /** For an idle worker. */
  readonly worker: Bytes;
  readonly threads: number;
}

const MIB = 2 ** 20;
/** A process with its libraries, before the first row. */
export const PROCESS: Bytes = 60e6;
/**
 * Process memory for each byte of kernel buffers: up to 1.8, and less with more buffers. Sorts and joins of 60 M rows
 * took 1.1 times a limit of 940 MiB (`npm run bench -- --only box-2GiB`).
 */
const PER_BUFFER_BYTE = 1.6;
const PER_BUFFER_BYTE_OF_MANY = 1.35;
/** Sorts and joins that ran out of buffers had taken 1.1 bytes for each (`test/boxed`, rows of 1 kB in 512 MiB). */
const PER_BUFFER_BYTE_AT_LAST = 1.2;
const MANY: Bytes = 1024 * MIB;
/** Below this, one thread succeeds where two run out of memory. */
const ONE_THREAD_BELOW: Bytes = 512 * MIB;
/** With less, a kernel can do nothing. It then gets memory that is counted for other processes and mostly unused. */
export const LEAST: Bytes = 48 * MIB;

/** `isLastResort`: the kernel has run out of buffers before, while its process still had memory. */
export function kernelLease(process: Bytes, threads: number, isLastResort = false): KernelLease {
  const perByte = isLastResort ? PER_BUFFER_BYTE_AT_LAST : process < MANY ? PER_BUFFER_BYTE : PER_BUFFER_BYTE_OF_MANY;
  const memory = Math.max(LEAST, Math.floor((process - PROCESS) / perByte));
  return { memory, threads: process < ONE_THREAD_BELOW ? 1 : threads };
}

/**
 * The same buffers, or fewer if the process holds more beside them than was counted for (texts of aggregates, for
 * example): the process must stay within its memory. `beside`: what it holds beside its buffers and its libraries.
 */
export function leaseBeside(lease: KernelLease, process: Bytes, beside: Bytes): KernelLease {
  if (lease.memory === null) return lease;
  const most = Math.max(LEAST, Math.floor(process - PROCESS - beside));
  return most < lease.memory ? { ...lease, memory: most } : lease;
}

/** The lease that the wide kernel is started with. */
export function firstLease(pool: MemoryPool, store: Bytes, workers: number): KernelLease {
  return kernelLease(Math.max(0, pool.memory - pool.overhead - store - workers * pool.worker), pool.threads);
}
