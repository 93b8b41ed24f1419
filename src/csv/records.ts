/**
 * Records of CSV text as the kernel sees them, with the lines at which they begin. Used for headers, for samples of a
 * file, and to find the value that an error is about. The rows themselves are read by the kernel.
 */
export interface Marks {
  readonly delimiter: string;
  /** Empty: nothing is quoted. */
  readonly quote: string;
  readonly escape: string;
  /** Lines that begin with this are not records. Empty: there are no such lines. */
  readonly comment: string;
}

export interface CsvRecord {
  /** The first line of the file is 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

/** An empty line. In a file of one column it is a row with null. */
export function isBlank({ fields }: CsvRecord): boolean {
  return fields.length === 1 && fields[0] === "";
}

const LONG_RECORD = 2 ** 16;

/** Takes text in pieces. A record that is cut by the end of a piece waits for the next piece. */
export class RecordScanner {
  #text = "";
  #line = 1;
  #begun = false;
  /** The length of text from which on it is looked at again. */
  #enough = 0;

  /** `above`: how many lines are left out before the first record. */
  constructor(
    private readonly marks: Marks,
    private above: number,
  ) {}

  /** The file ended inside quotes. */
  get isOpen(): boolean {
    return this.#text !== "";
  }

  push(piece: string, isLast: boolean): CsvRecord[] {
    this.#text += piece;
    if (!this.#begun) this.#text = withoutMark(this.#text);
    this.#begun ||= this.#text !== "";
    if (!isLast && this.#text.length < this.#enough) return [];
    const records: CsvRecord[] = [];
    let at = this.#leaveOut();
    while (at < this.#text.length) {
      const found = this.#record(at, isLast);
      if (found === null) break;
      const { comment } = this.marks;
      if (comment === "" || !this.#text.startsWith(comment, at)) {
        records.push({ line: this.#line, fields: found.fields });
      }
      this.#line += lineEnds(this.#text, at, found.end);
      at = found.end;
    }
    this.#text = this.#text.slice(at);
    // A long record is scanned again from its beginning: once for each doubling, not for each piece.
    this.#enough = this.#text.length < LONG_RECORD ? 0 : 2 * this.#text.length;
    return records;
  }

  #leaveOut(): number {
    let at = 0;
    while (this.above > 0) {
      const end = lineAt(this.#text, at).next;
      if (end === null) break;
      at = end;
      this.above--;
      this.#line++;
    }
    return this.above > 0 ? this.#text.length : at;
  }

  /** The record at an offset, and where the next one begins; null if its end has not come yet. */
  #record(start: number, isLast: boolean): { readonly fields: string[]; readonly end: number } | null {
    const { delimiter } = this.marks;
    const text = this.#text;
    const fields: string[] = [];
    let at = start;
    for (;;) {
      const quoted = this.#quoted(at);
      if (quoted === "open") return null;
      let end = quoted?.end ?? at;
      while (end < text.length && !isLineEnd(text, end) && !(delimiter !== "" && text.startsWith(delimiter, end)))
        end++;
      fields.push(quoted === null ? text.slice(at, end) : quoted.value + text.slice(quoted.end, end));
      if (end >= text.length) return isLast ? { fields, end } : null;
      if (!isLineEnd(text, end)) {
        at = end + delimiter.length;
        continue;
      }
      const isPair = text[end] === "\r" && text[end + 1] === "\n";
      // A piece may end between the two characters of a line end.
      if (text[end] === "\r" && end + 1 === text.length && !isLast) return null;
      return { fields, end: end + (isPair ? 2 : 1) };
    }
  }

  /** The quoted value that begins here, after spaces; null if none does, "open" if its end has not come yet. */
  #quoted(start: number): { readonly value: string; readonly end: number } | "open" | null {
    const { quote, escape: before } = this.marks;
    const text = this.#text;
    let at = start;
    while (text[at] === " ") at++;
    if (quote === "" || text[at] !== quote) return null;
    let value = "";
    let from = ++at;
    while (at < text.length) {
      const char = text[at];
      const next = text[at + 1];
      if (char === before && (next === quote || next === before) && next !== undefined) {
        value += text.slice(from, at) + next;
        at += 2;
        from = at;
      } else if (char === quote) {
        return { value: value + text.slice(from, at), end: at + 1 };
      } else {
        at++;
      }
    }
    return "open";
  }
}

export function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, "");
}

/** A line, and where the next one begins; null: the line has no end yet. */
export function lineAt(text: string, at: number): { readonly line: string; readonly next: number | null } {
  let end = at;
  while (end < text.length && !isLineEnd(text, end)) end++;
  if (end === text.length) return { line: text.slice(at), next: null };
  return { line: text.slice(at, end), next: end + (text[end] === "\r" && text[end + 1] === "\n" ? 2 : 1) };
}

function isLineEnd(text: string, at: number): boolean {
  return text[at] === "\n" || text[at] === "\r";
}

function lineEnds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) {
    if (text[at] === "\n" || (text[at] === "\r" && text[at + 1] !== "\n")) count++;
  }
  return count;
}
