/**
 * The half of the resource budget that is not the store's: the cores, memory and GPUs that the next task asks for. No
 * task can have what others have, so this half is not overruled.
 */
import type { StartPolicy, StartView } from "./policy.ts";
import { RESOURCE_BUDGET } from "./resource-budget.ts";

export class FreeResourcesPolicy implements StartPolicy {
  readonly name = RESOURCE_BUDGET;

  mayStart({ hasResources }: StartView): boolean {
    return hasResources;
  }
}
