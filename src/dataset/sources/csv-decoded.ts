/**
 * CSV files in other encodings than UTF-8. The kernel reads them as streams, which are decoded before. Before there is
 * a task, nobody makes streams: so what is looked at for the header and the types is decoded and cut into fields here.
 */
import { quoteText } from "../../arrow/index.ts";
import { type Dialect, RecordScanner } from "../../csv/index.ts";
import type { TextEncoding } from "../../protocol/index.ts";
import { packingOf, textOf } from "../../text/index.ts";
import type { SourceFile } from "./files.ts";
import { partStream } from "./kernel-paths.ts";

interface DecodedSettings {
  readonly compression: string | null;
  readonly encoding: TextEncoding;
}

const ROWS_PER_QUERY = 4096;

/** The text of a file, piece by piece, unpacked. */
export async function* decodedText(
  file: SourceFile,
  { compression, encoding }: DecodedSettings,
): AsyncGenerator<string> {
  const packing = packingOf(file.path, compression);
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  for await (const piece of textOf({ ...partStream(file, "readCsv"), encoding, packing })) {
    yield utf8.decode(piece, { stream: true });
  }
}

/**
 * SQL for the first rows of a file, some at a time: a number from 1 as `r`, and the texts as the list `fields`. A row
 * with another number of fields is left out: the read itself reports it, with its line.
 */
export async function* decodedRows(
  file: SourceFile,
  dialect: Dialect,
  width: number,
  limit: number | null,
  settings: DecodedSettings & { readonly nullValues: readonly string[] },
): AsyncGenerator<string> {
  const scanner = new RecordScanner(dialect, dialect.above);
  const nulls = new Set(settings.nullValues);
  let rows: (readonly (string | null)[])[] = [];
  let before = 0;
  const query = () => {
    const sql = `SELECT ${before} + row_number() OVER () AS r, fields FROM (SELECT unnest(from_json(${quoteText(JSON.stringify(rows))}, '[["VARCHAR"]]')) AS fields)`;
    before += rows.length;
    rows = [];
    return sql;
  };
  const take = (piece: string, isLast: boolean) => {
    for (const { fields } of scanner.push(piece, isLast)) {
      if (limit !== null && before + rows.length >= limit) return;
      if (fields.length === width) rows.push(fields.map((field) => (nulls.has(field) ? null : field)));
    }
  };
  for await (const piece of decodedText(file, settings)) {
    take(piece, false);
    if (rows.length >= ROWS_PER_QUERY) yield query();
    if (limit !== null && before + rows.length >= limit) break;
  }
  if (limit === null || before + rows.length < limit) take("", true);
  if (rows.length > 0) yield query();
}
