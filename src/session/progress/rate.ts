/**
 * How fast a figure grows, taken over its last seconds: a stop shows soon, and short pauses do not make the rate jump.
 */
import type { Milliseconds } from "../../protocol/index.ts";

const OVER_MS = 5_000;

export class Rate {
  readonly #samples: { readonly at: Milliseconds; readonly value: number }[] = [];

  add(at: Milliseconds, value: number): void {
    const samples = this.#samples;
    samples.push({ at, value });
    while (samples.length > 2 && at - (samples[1]?.at ?? at) >= OVER_MS) samples.shift();
  }

  /** Growth per second. A task that runs again starts from zero, so a figure may shrink. */
  get perSecond(): number {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || last.at <= first.at) return 0;
    return Math.max(0, ((last.value - first.value) / (last.at - first.at)) * 1000);
  }
}
