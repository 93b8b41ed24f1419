/**
 * Holds an operator back while enough of its blocks wait for its consumer: a consumer that stops, stops the readers.
 */
import type { BackpressurePolicy, OperatorView } from "./policy.ts";

export class DownstreamCapacityBackpressurePolicy implements BackpressurePolicy {
  readonly name = "DownstreamCapacityBackpressurePolicy";

  mayStart(view: OperatorView): boolean {
    return this.mayWrite(view);
  }

  mayWrite({ queuedBlocks, blockBound, consumerGathers }: OperatorView): boolean {
    return queuedBlocks < blockBound || consumerGathers;
  }
}
