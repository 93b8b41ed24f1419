/**
 * The spans of all lanes, in typed arrays: a million spans take 25 MB and give the garbage collector nothing to do.
 * When the arrays are full, the oldest spans make room and are counted. Spans are ordered by their ends.
 */
import type { Milliseconds } from "../../protocol/index.ts";
import type { SpanKind } from "../api.ts";

interface Span {
  readonly start: Milliseconds;
  readonly end: Milliseconds;
  readonly lane: number;
  /** Number of the operator's colour; -1 without an operator. */
  readonly operator: number;
  readonly kind: SpanKind;
}

/** Where several spans share a pixel, the later kind in this list is shown. */
export const KINDS: readonly SpanKind[] = ["task", "transfer", "restore", "spill", "retried", "failed", "killed"];

const FIRST = 4_096;
const MOST = 1_000_000;

export class Spans {
  #size = FIRST;
  #starts = new Float64Array(FIRST);
  #ends = new Float64Array(FIRST);
  #lanes = new Uint16Array(FIRST);
  #operators = new Int32Array(FIRST);
  #kinds = new Uint8Array(FIRST);
  /** Number of spans ever added; the newest are still here. */
  #count = 0;

  constructor(private readonly most = MOST) {}

  get leftOut(): number {
    return Math.max(0, this.#count - this.#size);
  }

  add({ start, end, lane, operator, kind }: Span): void {
    if (this.#count === this.#size && this.#size < this.most) this.#grow();
    const at = this.#count % this.#size;
    this.#starts[at] = start;
    this.#ends[at] = end;
    this.#lanes[at] = lane;
    this.#operators[at] = operator;
    this.#kinds[at] = KINDS.indexOf(kind);
    this.#count += 1;
  }

  /** Visits the spans that overlap a time range, ordered by their ends. */
  between(
    from: Milliseconds,
    to: Milliseconds,
    visit: (start: number, end: number, lane: number, operator: number, kind: number) => void,
  ): void {
    for (let number = this.#firstEndingAt(from); number < this.#count; number++) {
      const at = number % this.#size;
      const start = this.#starts[at] ?? 0;
      if (start > to) continue;
      visit(start, this.#ends[at] ?? 0, this.#lanes[at] ?? 0, this.#operators[at] ?? 0, this.#kinds[at] ?? 0);
    }
  }

  #firstEndingAt(from: Milliseconds): number {
    let low = this.leftOut;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ends[middle % this.#size] ?? 0) < from) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Spans keep their numbers. */
  #grow(): void {
    this.#size = Math.min(this.#size * 2, this.most);
    this.#starts = larger(this.#starts, new Float64Array(this.#size));
    this.#ends = larger(this.#ends, new Float64Array(this.#size));
    this.#lanes = larger(this.#lanes, new Uint16Array(this.#size));
    this.#operators = larger(this.#operators, new Int32Array(this.#size));
    this.#kinds = larger(this.#kinds, new Uint8Array(this.#size));
  }
}

function larger<Numbers extends Float64Array | Uint16Array | Int32Array | Uint8Array>(
  from: Numbers,
  to: Numbers,
): Numbers {
  to.set(from);
  return to;
}
