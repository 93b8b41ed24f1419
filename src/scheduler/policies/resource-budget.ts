/**
 * Holds an operator to its budget of the store (budget.ts), so that others have theirs. A task starts if the store has
 * room for its first block, because it would otherwise only keep a worker from others, and if the budget
 * covers what the running tasks and this one are expected to hand over next. A block is written if the budget covers
 * it. An operator without waiting blocks may write one more, because its consumers are about to have nothing to do. So
 * an operator never has more than its budget and one block for each running task.
 */

import type { Bytes } from "../../protocol/index.ts";
import type { BackpressurePolicy, OperatorView, StartView } from "./policy.ts";

export const RESOURCE_BUDGET = "ResourceBudgetBackpressurePolicy";

export class ResourceBudgetBackpressurePolicy implements BackpressurePolicy {
  readonly name = RESOURCE_BUDGET;

  mayStart(view: StartView): boolean {
    if (!view.hasRoom) return false;
    if (view.queuedBlocks === 0 && view.running === 0) return true;
    const { expected } = view;
    return expected === 0 || expected <= view.budget;
  }

  mayWrite(view: OperatorView, bytes: Bytes): boolean {
    return view.queuedBlocks === 0 || bytes <= view.budget;
  }
}
