/** Rows of text in aligned columns, within the terminal's width. */
import { printable, screenWidth, styled } from "./terminal.ts";

interface TableOptions {
  /** The first row names the columns. */
  readonly hasHead?: boolean;
  /** Columns whose figures are aligned to the right. */
  readonly right?: readonly number[];
  /** Default: the terminal's width, or no limit when the output is not a terminal. */
  readonly width?: number;
}

const GAP = 2;
/** A shortened column keeps at least this width. */
const LEAST = 8;

/** Cells may hold anything, because control characters are escaped here. */
export function table(rows: readonly (readonly string[])[], options: TableOptions = {}): string {
  const { hasHead = false, right = [], width = process.stdout.isTTY ? process.stdout.columns : Infinity } = options;
  const cells = rows.map((row) => row.map((cell) => printable(cell)));
  const widths = cut(widest(cells), width);
  const line = (row: readonly string[], index: number) => {
    const text = row
      .map((cell, column) => padded(cell, widths[column] ?? 0, right.includes(column)))
      .join(" ".repeat(GAP))
      .trimEnd();
    return hasHead && index === 0 ? styled("bold", text) : text;
  };
  return cells.map((row, index) => `${line(row, index)}\n`).join("");
}

function widest(rows: readonly (readonly string[])[]): number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: columns }, (_, column) =>
    rows.reduce((most, row) => Math.max(most, textWidth(row[column] ?? "")), 0),
  );
}

/** Shortens the widest columns until all columns fit. */
function cut(widths: readonly number[], most: number): number[] {
  const left = [...widths];
  let over = left.reduce((sum, one) => sum + one + GAP, -GAP) - most;
  while (over > 0) {
    const widestOne = Math.max(...left);
    if (widestOne <= LEAST) break;
    const at = left.indexOf(widestOne);
    const next = Math.max(LEAST, ...left.filter((one) => one < widestOne));
    const step = Math.max(1, Math.min(over, widestOne - next));
    left[at] = widestOne - step;
    over -= step;
  }
  return left;
}

function padded(cell: string, width: number, isRight: boolean): string {
  const text = shortened(cell, width);
  const gap = " ".repeat(Math.max(0, width - textWidth(text)));
  return isRight ? gap + text : text + gap;
}

/** Cuts a text to the width and marks the cut. */
export function shortened(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let [kept, used] = ["", 0];
  for (const character of text) {
    used += textWidth(character);
    if (used > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

const NARROW = /^[\u0020-\u007e]*$/;
const WIDE = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}/u;
const COMBINING = /\p{Mark}/u;

/** Columns that the text takes on a terminal. */
function textWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** Names with their descriptions; long descriptions continue on further lines. */
export function listing(rows: readonly (readonly [name: string, text: string])[], width = screenWidth()): string {
  const indent = Math.max(0, ...rows.map(([name]) => textWidth(printable(name)))) + GAP;
  return rows
    .map(([name, text]) => {
      const lines = wrapped(printable(text), Math.max(20, width - indent));
      return lines.map((line, index) => (index === 0 ? printable(name) : "").padEnd(indent) + line).join("\n");
    })
    .map((line) => `${line}\n`)
    .join("");
}

/** Breaks a text into lines of whole words. A word that is too long gets a line of its own. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
