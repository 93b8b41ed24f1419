/**
 * Joins many small CSV files with the same columns into one. A file is accepted only if each of its records is a line
 * for certain: it has no quotes, and its lines end with line feeds. All headers must be the same bytes; the joined file
 * has the first one.
 */
import type { JoinedFormat } from "../../protocol/index.ts";

const LINE_FEED = 10;
const RETURN = 13;
const END = Uint8Array.of(LINE_FEED);
const MARK = Buffer.from("\uFEFF");

export class CsvJoin {
  readonly #parts: Uint8Array[] = [];
  readonly #quote: number | null;
  readonly #hasHeader: boolean;
  #header: Buffer | null = null;

  constructor({ header, quote }: Extract<JoinedFormat, { kind: "csv" }>) {
    this.#hasHeader = header;
    this.#quote = quote === "" ? null : quote.charCodeAt(0);
  }

  /** Copies the bytes of a file that can be read with the others; false: it cannot, and is left out. */
  add(file: Uint8Array): boolean {
    if (file.length === 0) return true;
    const bytes = Buffer.from(file);
    if (!this.#isPlain(bytes)) return false;
    const first = this.#hasHeader ? bytes.indexOf(LINE_FEED) : -1;
    if (this.#hasHeader && !this.#takeHeader(first < 0 ? bytes : bytes.subarray(0, first))) return false;
    if (this.#hasHeader && first < 0) return true;
    const rows = bytes.subarray(first + 1);
    this.#parts.push(rows);
    if (rows.length > 0 && rows.at(-1) !== LINE_FEED) this.#parts.push(END);
    return true;
  }

  parts(): readonly Uint8Array[] {
    return [Buffer.concat(this.#header === null ? this.#parts : [this.#header, END, ...this.#parts])];
  }

  #isPlain(bytes: Buffer): boolean {
    if (this.#quote !== null && bytes.includes(this.#quote)) return false;
    return !bytes.includes(RETURN) && !bytes.subarray(0, MARK.length).equals(MARK);
  }

  #takeHeader(line: Buffer): boolean {
    // Before the header, the kernel skips empty lines.
    if (line.length === 0) return false;
    this.#header ??= line;
    return this.#header.equals(line);
  }
}
