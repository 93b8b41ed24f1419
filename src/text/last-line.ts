/**
 * Measures the last line of a text that comes in pieces. The kernel leaves out a last line that is about as long as one
 * of its buffers, or longer, without an error. It refuses such a line elsewhere. Line ends inside quotes count here,
 * too: the kernel refuses a long last record if it has any.
 */
import type { Bytes } from "../protocol/index.ts";

const LINE_FEED = 10;
const RETURN = 13;

export class LastLine {
  #length: Bytes = 0;
  #hasEnded = false;

  /** Without its line end. Empty lines after it do not count. */
  get length(): Bytes {
    return this.#length;
  }

  push(piece: Uint8Array): void {
    let end = piece.length;
    while (end > 0 && (piece[end - 1] === LINE_FEED || piece[end - 1] === RETURN)) end--;
    if (end > 0) {
      const before = Math.max(piece.lastIndexOf(LINE_FEED, end - 1), piece.lastIndexOf(RETURN, end - 1));
      const isContinued = before < 0 && !this.#hasEnded;
      this.#length = isContinued ? this.#length + end : end - before - 1;
      this.#hasEnded = false;
    }
    this.#hasEnded ||= end < piece.length;
  }
}

/** What is wrong with the last line, and what to do; null if it is shorter than `refused`. */
export function lastLineFault({ length }: LastLine, refused: Bytes): string | null {
  return length < refused ? null : `its last line has ${length} bytes, which is too long. Give a larger maxLineSize`;
}
