/**
 * What must be proved about the bytes of CSV files before the kernel may convert values while it reads. The kernel's
 * own reader silently takes `2.5` for a BIGINT, and drops the zeros of `007` and the offset of a TIMESTAMP. Types that
 * are missing here, and files without a proof, are read as texts (`csv-types.ts`).
 */
import { foldedName } from "../../arrow/index.ts";
import { type Dialect, isProvable } from "../../csv/index.ts";
import type { Column } from "../../plan/index.ts";
import type { Bytes, CsvProof, FieldProof } from "../../protocol/index.ts";
import { type CsvSettings, type CsvShape, EMPTY_IS_NULL } from "./csv-files.ts";
import { isPacked } from "./csv-heads.ts";
import type { TextFormats } from "./csv-types.ts";
import { bytesOf, type SourceFile } from "./files.ts";

/** For shorter files the proof takes as much time as it saves. */
const WORTH_PROVING: Bytes = 32 * 1024;
/** The code that proves the fields grows with their number. */
const MOST_FIELDS = 256;

/** How many digits every number of the type can have. */
const DIGITS: Readonly<Record<string, number>> = {
  TINYINT: 2,
  SMALLINT: 4,
  INTEGER: 9,
  BIGINT: 18,
  UTINYINT: 2,
  USMALLINT: 4,
  UINTEGER: 9,
  UBIGINT: 18,
};
/** A double keeps all digits of a text up to this length, so none is rounded. */
const DOUBLE_LENGTH = 15;

/** Null if the kernel's own values of such a column need a check that the proof cannot make. */
export function fieldProof(type: string, { dateFormat, timestampFormat, decimal }: TextFormats): FieldProof | null {
  const upper = type.toUpperCase();
  const digits = DIGITS[upper];
  if (digits !== undefined) return { kind: "whole", digits, signed: !upper.startsWith("U") };
  if (upper === "DOUBLE" && decimal !== ",") return { kind: "double", length: DOUBLE_LENGTH };
  if (upper === "DATE" && dateFormat === null) return { kind: "date" };
  if (upper === "TIMESTAMP" && timestampFormat === null) return { kind: "timestamp" };
  return null;
}

/** The proof for files of one shape; null if nothing can be proved, or nothing needs to be. */
export function csvProof(
  files: readonly SourceFile[],
  { dialect, header, names }: CsvShape,
  columns: readonly Column[],
  settings: CsvSettings,
): Omit<CsvProof, "sql"> | null {
  const { delimiter, quote } = dialect;
  if (!isPlain(dialect, settings) || !settings.args.includes(EMPTY_IS_NULL)) return null;
  if (files.some((file) => isPacked(file, null))) return null;
  if (names.length > MOST_FIELDS || bytesOf(files) < WORTH_PROVING * files.length) return null;
  const types = new Map(columns.map(({ name, type }) => [foldedName(name), type]));
  const fields = names.map((name): FieldProof => {
    const type = types.get(foldedName(name));
    return (type === undefined ? null : fieldProof(type, settings)) ?? { kind: "any" };
  });
  const records = { delimiter, quote, fields };
  if (!isProvable(records) || fields.every(({ kind }) => kind === "any")) return null;
  const stretches = files.map(({ path, part, bytes }) => {
    const start = part?.start ?? 0;
    return { path, start, end: part?.end ?? bytes, header: header && start === 0 };
  });
  return { stretches, records };
}

/** Whether every line outside of quotes is a record, or the header, and every record counts. */
export function isPlain(dialect: Dialect, { ignoreErrors, compression, encoding }: CsvSettings): boolean {
  const { quote, escape: before, comment, above, skip, mixedLineEnds } = dialect;
  const isOfRecords = before === quote && comment === "" && above === 0 && skip === 0 && !mixedLineEnds;
  return isOfRecords && !ignoreErrors && compression === null && encoding === "utf-8";
}
