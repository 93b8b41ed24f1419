/**
 * Tasks that fit one by one and not together wait for each other: a task starts where the node holds what its
 * operator's tasks take, beside what the running tasks take.
 */
import type { StartPolicy, StartView } from "./policy.ts";

export class TaskMemoryBackpressurePolicy implements StartPolicy {
  readonly name = "TaskMemoryBackpressurePolicy";

  mayStart({ hasMemory }: StartView): boolean {
    return hasMemory;
  }
}
