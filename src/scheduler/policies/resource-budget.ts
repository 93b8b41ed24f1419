/**
 * Holds an operator to its budget of the store (budget.ts), so that others have theirs. A task starts where the budget
 * covers what tasks that run and this one are expected to hand over next; a block is written where the budget covers it.
 * An operator none of whose blocks waits may write one more: its consumers are about to have nothing to do. So it never
 * has more than its budget, and a block for each running task.
 */

import type { Bytes } from "../../protocol/index.ts";
import type { BackpressurePolicy, OperatorView } from "./policy.ts";

export class ResourceBudgetBackpressurePolicy implements BackpressurePolicy {
  readonly name = "ResourceBudgetBackpressurePolicy";

  mayStart(view: OperatorView): boolean {
    if (view.queuedBlocks === 0 && view.running === 0) return true;
    const { expected } = view;
    return expected === 0 || expected <= view.budget;
  }

  mayWrite(view: OperatorView, bytes: Bytes): boolean {
    return view.queuedBlocks === 0 || bytes <= view.budget;
  }
}
