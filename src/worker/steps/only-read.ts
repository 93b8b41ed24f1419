/**
 * The part of a row that a function reads, for rows that cannot be converted as a whole: a whole number past 2^53 in a
 * column that the function provably does not read is no reason to fail.
 */
import { compileRows, type RecordBatch, type RowReader, type ValueOptions } from "../../arrow/index.ts";
import { ValueError } from "../../errors/index.ts";

export class OnlyRead {
  #batch: RecordBatch | null = null;
  #reader: RowReader | null = null;

  /** `columns`: all columns that it can read; undefined: it may read any. */
  constructor(
    private readonly columns: readonly string[] | undefined,
    private readonly values: ValueOptions,
  ) {}

  /** Null if what was thrown is about a column that it reads. */
  row(batch: RecordBatch, index: number, thrown: unknown): object | null {
    if (this.columns === undefined || !(thrown instanceof ValueError) || thrown.column === null) return null;
    if (this.columns.some((name) => thrown.column === name || thrown.column?.startsWith(`${name}.`))) return null;
    return this.#readerOf(batch, this.columns).row(index);
  }

  #readerOf(batch: RecordBatch, columns: readonly string[]): RowReader {
    if (this.#reader !== null && this.#batch === batch) return this.#reader;
    const places = batch.schema.fields.flatMap(({ name }, place) => (columns.includes(name) ? [place] : []));
    const schema = { fields: places.flatMap((place) => batch.schema.fields[place] ?? []) };
    const reader = compileRows(schema, this.values);
    reader.load({ schema, length: batch.length, columns: places.flatMap((place) => batch.columns[place] ?? []) });
    this.#batch = batch;
    this.#reader = reader;
    return reader;
  }
}
