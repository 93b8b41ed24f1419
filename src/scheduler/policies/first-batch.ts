/**
 * Nothing is known of the memory of an operator's tasks, and all of them together might fill the node: they wait for
 * the first batch of the first one, which shows what a task takes. Where it is slow, more start every 200 ms.
 */
import type { StartPolicy, StartView } from "./policy.ts";

export class FirstBatchBackpressurePolicy implements StartPolicy {
  readonly name = "FirstBatchBackpressurePolicy";

  mayStart({ isOnTrial }: StartView): boolean {
    return !isOnTrial;
  }
}
