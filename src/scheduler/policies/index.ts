import { AloneBackpressurePolicy } from "./alone.ts";
import { ConcurrencyCapBackpressurePolicy } from "./concurrency-cap.ts";
import { DownstreamCapacityBackpressurePolicy } from "./downstream-capacity.ts";
import { FirstBatchBackpressurePolicy } from "./first-batch.ts";
import { FreeResourcesPolicy } from "./free-resources.ts";
import type { BackpressurePolicy, StartPolicy } from "./policy.ts";
import { ResourceBudgetBackpressurePolicy } from "./resource-budget.ts";
import { TaskMemoryBackpressurePolicy } from "./task-memory.ts";

export type { OperatorView, StartView } from "./policy.ts";
export { MEMORY_RETRY, WIDE_KERNEL, WORKER_PAUSE, WORKER_RESTART } from "./waits.ts";

export const concurrencyCap: BackpressurePolicy = new ConcurrencyCapBackpressurePolicy();
export const resourceBudget: BackpressurePolicy = new ResourceBudgetBackpressurePolicy();
/** These share out the room of the store; stall.ts overrules them if they would stop everything. */
export const roomPolicies: readonly BackpressurePolicy[] = [new DownstreamCapacityBackpressurePolicy(), resourceBudget];
export const freeResources: StartPolicy = new FreeResourcesPolicy();
export const alone: StartPolicy = new AloneBackpressurePolicy();
/** These keep the node from filling up. */
export const memoryPolicies: readonly StartPolicy[] = [
  new FirstBatchBackpressurePolicy(),
  new TaskMemoryBackpressurePolicy(),
];
/** All policies that can refuse a start. Users see the first one that refuses. */
export const startPolicies: readonly StartPolicy[] = [
  alone,
  concurrencyCap,
  ...roomPolicies,
  freeResources,
  ...memoryPolicies,
];
