/** The user's own `concurrency` of an operator. The one policy that is never overruled. */
import type { BackpressurePolicy, OperatorView } from "./policy.ts";

export class ConcurrencyCapBackpressurePolicy implements BackpressurePolicy {
  readonly name = "ConcurrencyCapBackpressurePolicy";

  mayStart({ running, maxRunning }: OperatorView): boolean {
    return running < maxRunning;
  }

  mayWrite(): boolean {
    return true;
  }
}
