/**
 * Finds the delimiter and the quotes of a CSV file from its beginning. The choice is the pair for which the largest
 * share of the records has as many fields as the first. A line that does not fit is never left out: it is an error when
 * the file is read.
 */
import { type CsvRecord, isBlank, lineAt, type Marks, RecordScanner, withoutMark } from "./records.ts";

export interface Dialect extends Marks {
  /** Lines above the first record. */
  readonly above: number;
  /** Those of them that are not comments; the kernel counts in this way. */
  readonly skip: number;
  /** Both `\r\n` and `\n` end lines. */
  readonly mixedLineEnds: boolean;
}

export type GivenDialect = Partial<Marks> & { readonly skip?: number };

const DELIMITERS = [",", "\t", ";", "|"];
const QUOTES = [
  { quote: '"', escape: '"' },
  { quote: '"', escape: "\\" },
  { quote: "'", escape: "'" },
];
/**
 * If a first line with one field is followed by rows of which at least this share has the same number of fields (more
 * than one), the line is a title and not a column name.
 */
const MOST = 0.9;

interface Trial {
  readonly marks: Marks;
  readonly records: readonly CsvRecord[];
  /** Fields of the first record. */
  readonly width: number;
  /** Share of the records with as many fields as the first. */
  readonly share: number;
  /** Share of the records after the first that have the most common number of fields above one. */
  readonly restShare: number;
}

export interface FoundDialect {
  readonly dialect: Dialect;
  /** The records of the head. The first one names the columns, or is a row. */
  readonly records: readonly CsvRecord[];
}

/** Null if the file has no record. `head` is the beginning of the file; `isWhole`: it is the whole file. */
export function findDialect(head: string, isWhole: boolean, given: GivenDialect): FoundDialect | null {
  const { above, skip } = linesAbove(head, given);
  const trials = candidates(head, given).map((marks) => tryMarks(head, isWhole, marks, above));
  const found = chosen(trials.filter((trial) => trial !== null));
  if (found === undefined) return null;
  const mixedLineEnds = head.includes("\r\n") && /(^|[^\r])\n/.test(unquoted(head, found.marks));
  return { dialect: { ...found.marks, above, skip, mixedLineEnds }, records: found.records };
}

/** The text without quoted parts, good enough to find line ends. A quote in an unquoted field hides too much of it. */
function unquoted(head: string, { quote, escape: before }: Marks): string {
  if (quote === "" || before !== quote || !head.includes(quote)) return head;
  return head
    .split(quote)
    .filter((_, i) => i % 2 === 0)
    .join("");
}

function linesAbove(head: string, { comment = "", skip: wanted = 0 }: GivenDialect): Pick<Dialect, "above" | "skip"> {
  const text = withoutMark(head);
  let above = 0;
  let skip = 0;
  for (let at: number | null = 0; at !== null; above++) {
    const { line, next } = lineAt(text, at);
    if (comment === "" || !line.startsWith(comment)) {
      if (skip >= wanted && line !== "") break;
      skip++;
    }
    at = next;
  }
  return { above, skip };
}

function candidates(head: string, given: GivenDialect): readonly Marks[] {
  const delimiters = given.delimiter === undefined ? DELIMITERS : [given.delimiter];
  const needed = QUOTES.filter((pair, i) => i === 0 || head.includes(pair.escape));
  const quotes =
    given.quote === undefined && given.escape === undefined
      ? needed
      : [{ quote: given.quote ?? '"', escape: given.escape ?? given.quote ?? '"' }];
  return quotes.flatMap((pair) =>
    delimiters.map((delimiter) => ({ delimiter, ...pair, comment: given.comment ?? "" })),
  );
}

function tryMarks(head: string, isWhole: boolean, marks: Marks, above: number): Trial | null {
  const scanner = new RecordScanner(marks, above);
  const records = scanner.push(head, isWhole).filter((record) => !isBlank(record));
  const [first, ...rest] = records;
  if (first === undefined) return null;
  const width = first.fields.length;
  const counts = new Map<number, number>();
  for (const { fields } of rest) counts.set(fields.length, (counts.get(fields.length) ?? 0) + 1);
  const same = 1 + (counts.get(width) ?? 0);
  const most = Math.max(0, ...[...counts].filter(([fields]) => fields > 1).map(([, records]) => records));
  const broken = isWhole && scanner.isOpen ? 0.5 : 1;
  return {
    marks,
    records,
    width,
    share: (broken * same) / records.length,
    restShare: rest.length < 2 ? 0 : most / rest.length,
  };
}

function chosen(trials: readonly Trial[]): Trial | undefined {
  const several = trials.filter(({ width }) => width > 1);
  if (several.length > 0) return several.reduce((best, trial) => (trial.share > best.share ? trial : best));
  // Rows below a title: choose the marks of the rows, so that the read reports where the file changes.
  const titled = trials.find(({ restShare }) => restShare >= MOST);
  return titled ?? trials.find(({ share }) => share === 1) ?? trials[0];
}
