/** How much memory a kernel may use in a process that may have so much. Only arithmetic; who has what is the scheduler's. */
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

/** A process with its libraries before the first row; and what one takes for a byte of the kernel's buffers (DESIGN §6). */
const PROCESS: Bytes = 60e6;
const PER_BUFFER_BYTE = 1.6;
/** Below this one thread gets through where two run out of memory. */
const ONE_THREAD_BELOW: Bytes = 512 * 2 ** 20;
export function kernelLease(process: Bytes, threads: number): KernelLease {
  const memory = Math.max(2 ** 20, Math.floor((process - PROCESS) / PER_BUFFER_BYTE));
  return { memory, threads: process < ONE_THREAD_BELOW ? 1 : threads };
}

/** What the wide kernel is started with. */
export function firstLease(pool: MemoryPool, store: Bytes, workers: number): KernelLease {
  return kernelLease(Math.max(0, pool.memory - pool.overhead - store - workers * pool.worker), pool.threads);
}
