/**
 * The half of the resource budget that is not the store's: the cores, memory and GPUs that the next task asks for. What
 * other tasks have cannot be given twice, so this half is never overruled.
 */
import type { StartPolicy, StartView } from "./policy.ts";
import { RESOURCE_BUDGET } from "./resource-budget.ts";

export class FreeResourcesPolicy implements StartPolicy {
  readonly name = RESOURCE_BUDGET;

  mayStart({ hasResources }: StartView): boolean {
    return hasResources;
  }
}
