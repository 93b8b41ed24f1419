/** Holds an operator back while its waiting blocks fill its share of the store, so that others have theirs. */
import type { BackpressurePolicy, OperatorView } from "./policy.ts";

export class ResourceBudgetBackpressurePolicy implements BackpressurePolicy {
  readonly name = "ResourceBudgetBackpressurePolicy";

  mayStart(view: OperatorView): boolean {
    return this.mayWrite(view);
  }

  mayWrite({ queuedBlocks, queuedBytes, byteShare }: OperatorView): boolean {
    return queuedBlocks === 0 || queuedBytes < byteShare;
  }
}
