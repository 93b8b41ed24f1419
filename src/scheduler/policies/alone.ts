/** Some task must compute alone, because memory does not hold it beside others: others wait for it, or it for them. */
import type { StartPolicy, StartView } from "./policy.ts";

export class AloneBackpressurePolicy implements StartPolicy {
  readonly name = "AloneBackpressurePolicy";

  mayStart({ isItsTurn }: StartView): boolean {
    return isItsTurn;
  }
}
