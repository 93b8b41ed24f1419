import { ConcurrencyCapBackpressurePolicy } from "./concurrency-cap.ts";
import { DownstreamCapacityBackpressurePolicy } from "./downstream-capacity.ts";
import type { BackpressurePolicy } from "./policy.ts";
import { ResourceBudgetBackpressurePolicy } from "./resource-budget.ts";

export type { BackpressurePolicy, OperatorView } from "./policy.ts";
export { ConcurrencyCapBackpressurePolicy, DownstreamCapacityBackpressurePolicy, ResourceBudgetBackpressurePolicy };

export const concurrencyCap: BackpressurePolicy = new ConcurrencyCapBackpressurePolicy();
export const resourceBudget: BackpressurePolicy = new ResourceBudgetBackpressurePolicy();
/** These share out the room of the store; stall.ts overrules them if they would stop everything. */
export const roomPolicies: readonly BackpressurePolicy[] = [new DownstreamCapacityBackpressurePolicy(), resourceBudget];
