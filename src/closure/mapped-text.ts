/** Source text assembled from pieces of scripts, with a table from its positions to the user's own. */
import type { PayloadProgram } from "./payload.ts";
import type { Script } from "./script.ts";
import { segmentBefore } from "./source-map.ts";

/** Replaces source[start, end) by text. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export class MappedText {
  readonly #parts: string[] = [];
  readonly #files: string[] = [];
  readonly #positions: number[] = [];
  #line = 0;
  #column = 0;

  write(text: string): void {
    this.#parts.push(text);
    const last = text.lastIndexOf("\n");
    if (last < 0) this.#column += text.length;
    else {
      this.#column = text.length - last - 1;
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.#line++;
    }
  }

  /** Copies a stretch of a script, with the edits inside it applied. */
  copyEdited(from: Script, stretch: { start: number; end: number; edits: readonly Edit[] }): void {
    let at = stretch.start;
    for (const edit of [...stretch.edits].sort((a, b) => a.start - b.start)) {
      this.#copy(from, at, edit.start);
      this.write(edit.text);
      at = edit.end;
    }
    this.#copy(from, at, stretch.end);
  }

  finish(): Pick<PayloadProgram, "code" | "positions" | "files"> {
    return { code: this.#parts.join(""), positions: Int32Array.from(this.#positions), files: this.#files };
  }

  /** Copies source text unchanged and records where it came from. */
  #copy(from: Script, start: number, end: number): void {
    if (end <= start) return;
    const first = from.original(start);
    const verbatim = from.map === null ? 1 : 0;
    this.#map(0, this.#column, first.file, first.line, first.column, verbatim);
    this.#copySegments(from, start, end);
    this.write(from.source.slice(start, end));
  }

  /** The part of the script's own map that covers this stretch. */
  #copySegments(from: Script, start: number, end: number): void {
    if (from.map === null) return;
    const at = from.positionAt(start);
    const stop = from.positionAt(end);
    const { segments, sources } = from.map;
    for (let i = segmentBefore(segments, at.line, at.column) + 1; i < segments.length; i++) {
      const segment = segments[i];
      if (segment === undefined || segment.line > stop.line) break;
      if (segment.line === stop.line && segment.column >= stop.column) break;
      const file = sources[segment.source];
      if (file === undefined) continue;
      const row = segment.line - at.line;
      const column = row === 0 ? this.#column + segment.column - at.column : segment.column;
      this.#map(row, column, file, segment.sourceLine, segment.sourceColumn, 0);
    }
  }

  /** `row`: lines below the end of what is written. */
  #map(row: number, column: number, file: string, line: number, sourceColumn: number, verbatim: number): void {
    const known = this.#files.indexOf(file);
    const index = known >= 0 ? known : this.#files.push(file) - 1;
    this.#positions.push(this.#line + row, column, index, line, sourceColumn, verbatim);
  }
}
