/**
 * The backpressure policies: their names, which programs read, and words for people. The words follow "held back by",
 * on every page, in reports, findings and on a terminal.
 */
const WORDS = {
  AloneBackpressurePolicy: "a task that has to run alone",
  ConcurrencyCapBackpressurePolicy: "its own concurrency",
  DownstreamCapacityBackpressurePolicy: "what takes its rows",
  FirstBatchBackpressurePolicy: "the first batch of its first task, which shows the memory that a task takes",
  MemoryRetryBackpressurePolicy: "the wait after running out of memory",
  ResourceBudgetBackpressurePolicy: "its share of the store, cores and memory",
  TaskMemoryBackpressurePolicy: "memory: its tasks take so much that no more of them fit",
  WideKernelBackpressurePolicy: "another operator in the wide kernel",
  WorkerPauseBackpressurePolicy: "workers that are paused because of their memory",
  WorkerRestartBackpressurePolicy: "workers that died and are being replaced",
} as const;

export type PolicyName = keyof typeof WORDS;

function isPolicy(name: string): name is PolicyName {
  return Object.hasOwn(WORDS, name);
}

/** A policy of another version of Spillway, in an old event file, keeps its name. */
export function policyWords(name: string): string {
  return isPolicy(name) ? WORDS[name] : name;
}
