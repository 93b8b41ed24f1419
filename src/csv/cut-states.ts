/**
 * Finds where records begin in a stretch of CSV that may start anywhere, inside quotes or not. All states that the
 * kernel's reader could be in are followed at once. A state is dropped at a byte that the reader would refuse in it.
 * When a line ends and no remaining state is inside quotes, a record ends there for certain. Nothing is guessed:
 * without certainty there is no answer.
 */
import type { Marks } from "./records.ts";

/** A set of states is a sum of these. */
const START = 1; // of a field
const SPACES = 2; // at the start of a field
const PLAIN = 4; // in a field without quotes
const ESCAPED = 8; // after an escape in such a field
const QUOTED = 16;
const QUOTED_ESCAPED = 32;
const QUOTE_SEEN = 64; // in quotes: it ends them, or is the first of two
const AFTER_QUOTES = 128; // spaces between the end of quotes and the next field
const ANYWHERE = 255;
const INSIDE = QUOTED | QUOTED_ESCAPED | ESCAPED;

const LINE_FEED = 10;
const RETURN = 13;
const SPACE = 32;
/** Before a mark that follows a long run without marks, this many bytes are followed one by one. */
const EXACT_BYTES = 4096;

interface MarkBytes {
  readonly delimiter: number;
  /** -1: there is none. */
  readonly quote: number;
  readonly escape: number;
}

/** Null if the marks are not single bytes, or if a line may be something other than part of a record. */
function markBytes({ delimiter, quote, escape: before, comment }: Marks): MarkBytes | null {
  const byte = (text: string) => (text === "" ? -1 : text.length === 1 && text < "\x80" ? text.charCodeAt(0) : null);
  const [separator, mark, other] = [byte(delimiter), byte(quote), byte(before)];
  if (separator === null || mark === null || other === null || comment !== "") return null;
  return { delimiter: separator, quote: mark, escape: other };
}

/** Whether the borders of records can be found in the middle of a file of this dialect. */
export function canBeCut(marks: Marks): boolean {
  return markBytes(marks) !== null;
}

export class CutStates {
  readonly #marks: MarkBytes;
  /** The next set for a set and a byte, plus one; 0: not computed yet. */
  readonly #next = new Uint16Array(256 * 256);
  #states: number;
  /** Bytes since the last quote. */
  #unquoted = 0;

  /** `longest`: no record has more bytes. `known`: the stretch starts at the beginning of a record. */
  constructor(
    marks: Marks,
    private readonly longest: number,
    known: boolean,
  ) {
    const bytes = markBytes(marks);
    if (bytes === null) throw new Error("records of this dialect cannot be told apart in the middle of a file");
    this.#marks = bytes;
    this.#states = known ? START : bytes.quote < 0 ? ANYWHERE & ~(QUOTED | QUOTED_ESCAPED | QUOTE_SEEN) : ANYWHERE;
  }

  /** The offset after the end of the next record; -1 if the bytes contain no certain end. */
  push(bytes: Buffer, from = 0): number {
    let at = from;
    let mark = -1;
    while (at < bytes.length) {
      if (at > mark) mark = this.#markFrom(bytes, at);
      // The ends of lines inside quotes decide nothing: skip to the next mark.
      if ((this.#states & QUOTED) !== 0 && this.#unquoted < this.longest) at = this.#skip(at, mark);
      const byte = bytes[at] ?? 0;
      const states = this.#step(this.#states, byte);
      this.#unquoted = at === mark ? 0 : this.#unquoted + 1;
      at++;
      // No record is this long, so the stretch cannot be inside quotes.
      const left = this.#unquoted > this.longest ? states & ~(QUOTED | QUOTED_ESCAPED) : states;
      const isEnd = byte === LINE_FEED && (this.#states & INSIDE) === 0 && left === START;
      this.#states = left;
      if (isEnd) return at;
    }
    return -1;
  }

  /** The next quote or escape, or the end of the bytes. */
  #markFrom(bytes: Buffer, at: number): number {
    const places = [this.#marks.quote, this.#marks.escape].map((mark) => (mark < 0 ? -1 : bytes.indexOf(mark, at)));
    return Math.min(bytes.length, ...places.filter((place) => place >= 0));
  }

  /**
   * Skips to the next mark, or shortly before it if the state is unknown. A state outside quotes may have become any
   * other state outside quotes by then.
   */
  #skip(at: number, mark: number): number {
    const isKnown = this.#states === QUOTED;
    const end = Math.min(mark, at + this.longest - this.#unquoted) - (isKnown ? 1 : EXACT_BYTES);
    if (end <= at) return at;
    if (!isKnown) this.#states = QUOTED | START | SPACES | PLAIN;
    this.#unquoted += end - at;
    return end;
  }

  #step(states: number, byte: number): number {
    const key = states * 256 + byte;
    const known = this.#next[key] ?? 0;
    if (known !== 0) return known - 1;
    let next = 0;
    for (let state = 1; state <= 128; state *= 2) if ((states & state) !== 0) next |= this.#after(state, byte);
    this.#next[key] = next + 1;
    return next;
  }

  /** The states that the kernel's reader may go to from one state; none if it refuses the file there. */
  #after(state: number, byte: number): number {
    const { delimiter, quote, escape: before } = this.#marks;
    const isQuote = byte === quote;
    const endsField = byte === delimiter || byte === LINE_FEED || byte === RETURN;
    switch (state) {
      case START:
        if (isQuote) return QUOTED;
        break;
      case SPACES:
        if (isQuote) return QUOTED | PLAIN;
        break;
      case ESCAPED:
        return PLAIN;
      case QUOTED:
        if (isQuote) return QUOTE_SEEN;
        return byte === before ? QUOTED_ESCAPED : QUOTED;
      case QUOTED_ESCAPED:
        return QUOTED;
      case QUOTE_SEEN:
      case AFTER_QUOTES:
        if (isQuote) return QUOTED;
        if (endsField) return START;
        return byte === SPACE ? AFTER_QUOTES : 0;
    }
    if (endsField) return START;
    if (byte === before && !isQuote) return PLAIN | ESCAPED;
    return byte === SPACE && state !== PLAIN ? SPACES : PLAIN;
  }
}
