/**
 * Nothing is known of the memory of an operator's tasks, and all of them together might fill the node: they wait for the
 * first batch of the first one, which shows what a task takes, for 200 ms at most.
 */
import type { StartPolicy, StartView } from "./policy.ts";

export class FirstBatchBackpressurePolicy implements StartPolicy {
  readonly name = "FirstBatchBackpressurePolicy";

  mayStart({ isOnTrial }: StartView): boolean {
    return !isOnTrial;
  }
}
