/**
 * What has to be proved of the bytes of CSV files so that the kernel may make values of them while it reads: its own
 * reader takes `2.5` for a BIGINT, drops the zeros of `007` and the offset of a TIMESTAMP, and never says so. Types
 * that are not here, and files of which nothing is proved, are read as texts (`csv-types.ts`).
 */
import { foldedName } from "../../arrow/index.ts";
import { isProvable } from "../../csv/index.ts";
import type { Column } from "../../plan/index.ts";
import type { Bytes, CsvProof, FieldProof } from "../../protocol/index.ts";
import { type CsvSettings, type CsvShape, EMPTY_IS_NULL } from "./csv-files.ts";
import { isPacked } from "./csv-heads.ts";
import type { TextFormats } from "./csv-types.ts";
import { bytesOf, type SourceFile } from "./files.ts";

/** Of shorter files as much time is lost as won. */
const WORTH_PROVING: Bytes = 32 * 1024;
/** The code that proves them grows with their number. */
const MOST_FIELDS = 256;

/** Digits that every number of a type has room for. */
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
/** A double has the digits of a text that is no longer: none is rounded. */
const DOUBLE_LENGTH = 15;

/** Null where the kernel's own values of such a column need a closer look. */
export function fieldProof(type: string, { dateFormat, timestampFormat, decimal }: TextFormats): FieldProof | null {
  const upper = type.toUpperCase();
  const digits = DIGITS[upper];
  if (digits !== undefined) return { kind: "whole", digits, signed: !upper.startsWith("U") };
  if (upper === "DOUBLE" && decimal !== ",") return { kind: "double", length: DOUBLE_LENGTH };
  if (upper === "DATE" && dateFormat === null) return { kind: "date" };
  if (upper === "TIMESTAMP" && timestampFormat === null) return { kind: "timestamp" };
  return null;
}

/** For files of one shape; null where nothing can be proved, or nothing has to be. */
export function csvProof(
  files: readonly SourceFile[],
  { dialect, header, names }: CsvShape,
  columns: readonly Column[],
  settings: CsvSettings,
): Omit<CsvProof, "sql"> | null {
  const { delimiter, quote, escape: before, comment, above, skip, mixedLineEnds } = dialect;
  const isPlain = before === quote && comment === "" && above === 0 && skip === 0 && !mixedLineEnds;
  if (!isPlain || settings.ignoreErrors || !settings.args.includes(EMPTY_IS_NULL)) return null;
  if (settings.compression !== null || files.some((file) => isPacked(file, null))) return null;
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
