/** Refusals that do not depend on the figures of an operator: what it waits for has one of these names. */

/** The wide kernel has a task of another job, or of an operator behind this one in plan order. */
export const WIDE_KERNEL = "WideKernelBackpressurePolicy";
/** Workers without a task are paused, or being trimmed, because of their memory. */
export const WORKER_PAUSE = "WorkerPauseBackpressurePolicy";
/** Workers have died, and their replacements are held back. */
export const WORKER_RESTART = "WorkerRestartBackpressurePolicy";
/** The operator's tasks ran out of memory, and rest before they are run again. */
export const MEMORY_RETRY = "MemoryRetryBackpressurePolicy";
