/**
 * The task stream for pages that follow the session. They ask several times a second for almost the same piece of time,
 * so an answer that is at most as old as a patch serves them all. The page draws the range that the answer names.
 */
import type { Milliseconds } from "../../protocol/index.ts";
import type { SessionModel } from "../model/index.ts";
import { type TimeRange, taskStream } from "../views/index.ts";

/** As often as pages get patches. */
const FRESH: Milliseconds = 500;

export class SharedStream {
  #last: { readonly range: TimeRange; readonly text: string } | null = null;

  constructor(private readonly model: SessionModel) {}

  /** As JSON. */
  following(range: TimeRange): string {
    if (this.#last !== null && isNear(this.#last.range, range)) return this.#last.text;
    const text = JSON.stringify(taskStream(this.model, range));
    this.#last = { range, text };
    return text;
  }
}

function isNear(had: TimeRange, wanted: TimeRange): boolean {
  const later = wanted.to - had.to;
  return wanted.width === had.width && later >= 0 && later < FRESH && Math.abs(wanted.from - had.from) < FRESH;
}
