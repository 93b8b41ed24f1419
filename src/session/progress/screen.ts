/**
 * Lines at the bottom of a terminal that are drawn again in their place, while the program writes what it likes above
 * them. As long as lines are shown, writing to stdout and stderr first takes them away; they come back below what was
 * written. A line that the program has not ended yet is gone on with where it stopped.
 *
 *   away ─draw→ shown ─a write of the program→ aside ─draw→ shown ─end→ away
 */
import { Writable } from "node:stream";
import type { WriteStream } from "node:tty";

type Write = WriteStream["write"];

/** A stream with `write` replaced. */
interface Wrapped {
  readonly stream: WriteStream;
  readonly original: Write;
  /** True if the stream had a `write` of its own before. Otherwise, removing ours restores its class's method. */
  readonly wasOwn: boolean;
  readonly ours: unknown;
}

const ERASE_LINE = "\x1b[K";
const ERASE_BELOW = "\x1b[J";
/** Characters that certainly take one column each. After any others, the cursor's position is unknown. */
const PLAIN = /^[\x20-\x7e]*$/;

export class Screen {
  readonly #terminal: WriteStream;
  readonly #streams: readonly WriteStream[];
  #wrapped: readonly Wrapped[] = [];
  /** The lines on the screen; null when there are none. */
  #lines: readonly string[] | null = null;
  /** What the program has written since its last line end; null when that is unknown. */
  #open: string | null = null;
  /** True while the program's unfinished line stands above the drawn lines. */
  #isBelowOpen = false;

  /** `streams`: all streams that lead to the same terminal. */
  constructor(
    terminal: WriteStream,
    streams: readonly WriteStream[],
    /** Called when the program has written and the lines are gone. */
    private readonly covered: () => void,
  ) {
    this.#terminal = terminal;
    this.#streams = streams;
  }

  /**
   * One column less than the terminal has, because writing the last column may wrap. A terminal may not know its width.
   */
  get width(): number {
    return Math.max(1, (this.#terminal.columns || 80) - 1);
  }

  get rows(): number {
    return this.#terminal.rows || 24;
  }

  /** Draws lines of plain or coloured text, none wider than the terminal. */
  draw(lines: readonly string[]): void {
    this.#wrap();
    // A program that writes half a line and moves the cursor keeps the screen until it ends the line.
    if (this.#lines === null && !this.#mayStandBelowOpen()) return;
    if (this.#lines !== null && isSame(this.#lines, lines)) return;
    const text = lines.map((line) => line + ERASE_LINE).join("\n");
    this.#put(`${this.#lines === null ? this.#below() : this.#toTop()}${text}${ERASE_BELOW}`);
    this.#lines = lines;
  }

  /** The terminal's width has changed, so lines that were too wide now take several rows. */
  resized(): void {
    this.hide();
    this.covered();
  }

  /** Removes the lines. The cursor is where the program left it. */
  hide(): void {
    if (this.#lines === null) return;
    let text = `${this.#toTop()}${ERASE_BELOW}`;
    if (this.#isBelowOpen) text += `\x1b[1A\r\x1b[${(this.#open ?? "").length}C`;
    this.#put(text);
    this.#lines = null;
    this.#isBelowOpen = false;
  }

  /** Gives the streams back to the program. */
  end(): void {
    this.hide();
    for (const { stream, original, wasOwn, ours } of this.#wrapped) {
      // Other code has replaced `write` since; from now on it calls ours, which then only passes on.
      if (stream.write !== ours) continue;
      if (wasOwn) stream.write = original;
      else Reflect.deleteProperty(stream, "write");
    }
    this.#wrapped = [];
    this.#open = null;
  }

  #wrap(): void {
    if (this.#wrapped.length > 0) return;
    this.#wrapped = this.#streams.map((stream) => {
      const original = stream.write;
      const wasOwn = Object.hasOwn(stream, "write");
      const theirs = (chunk: unknown) => this.#theirs(chunk);
      function ours(this: unknown, ...given: unknown[]): unknown {
        theirs(given[0]);
        return Reflect.apply(original, this, given);
      }
      Reflect.set(stream, "write", ours);
      return { stream, original, wasOwn, ours };
    });
  }

  #theirs(chunk: unknown): void {
    if (this.#wrapped.length === 0) return;
    const was = this.#lines;
    this.hide();
    const text = textOf(chunk);
    const end = text.lastIndexOf("\n");
    if (end !== -1) this.#open = text.slice(end + 1);
    else if (this.#open !== null) this.#open += text;
    if (was !== null) this.covered();
  }

  #mayStandBelowOpen(): boolean {
    return this.#open === null || (this.#open.length < this.width && PLAIN.test(this.#open));
  }

  #below(): string {
    if (this.#open === null) return this.#belowUnknown();
    this.#isBelowOpen = this.#open !== "";
    return this.#isBelowOpen ? "\n\r" : "\r";
  }

  /** This many spaces return to the start on an empty line, and otherwise end on the next line. */
  #belowUnknown(): string {
    this.#open = "";
    return `${" ".repeat(this.#terminal.columns || 0)}\r${ERASE_BELOW}`;
  }

  /** Moves to the first column of the first line. A terminal that became narrower has broken longer lines. */
  #toTop(): string {
    const columns = this.#terminal.columns || Number.POSITIVE_INFINITY;
    const rows = (this.#lines ?? []).reduce((sum, line) => sum + Math.max(1, Math.ceil(visible(line) / columns)), 0);
    return rows > 1 ? `\r\x1b[${rows - 1}A` : "\r";
  }

  /** Bypasses the program's replacement of `write`: these bytes are for the terminal only. */
  #put(text: string): void {
    Reflect.apply(Writable.prototype.write, this.#terminal, [text]);
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, i) => line === b[i]);
}

function visible(line: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
  return line.replaceAll(/\x1b\[[0-9;]*m/g, "").length;
}

function textOf(chunk: unknown): string {
  if (typeof chunk === "string") return chunk;
  return ArrayBuffer.isView(chunk) ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString() : "";
}
