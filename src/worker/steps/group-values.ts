/** Stretches of a batch as a function gets them: columns, rows or an Arrow table, each a copy of the values. */
import {
  ColumnSlicer,
  compileRows,
  type RecordBatch,
  type Row,
  type RowReader,
  type Schema,
  schemaEquals,
  sliceBatch,
  toFlechette,
  type ValueOptions,
} from "../../arrow/index.ts";

export type BatchFormat = "columns" | "rows" | "arrow";

export class GroupValues {
  #schema: Schema | null = null;
  #slicer: ColumnSlicer | null = null;
  #reader: RowReader | null = null;
  #batch: RecordBatch | null = null;

  constructor(
    private readonly format: BatchFormat,
    private readonly options: ValueOptions,
  ) {}

  load(batch: RecordBatch): void {
    if (this.#schema === null || !schemaEquals(this.#schema, batch.schema)) {
      this.#schema = batch.schema;
      if (this.format === "columns") this.#slicer = new ColumnSlicer(batch.schema, this.options);
      if (this.format === "rows") this.#reader = compileRows(batch.schema, this.options);
    }
    this.#batch = batch;
    this.#slicer?.load(batch);
    this.#reader?.load(batch);
  }

  slice(from: number, to: number): unknown {
    if (this.#slicer !== null) return this.#slicer.slice(from, to);
    const reader = this.#reader;
    if (reader !== null) {
      const rows: Row[] = [];
      for (let row = from; row < to; row++) rows.push(reader.row(row));
      return rows;
    }
    return this.#batch === null ? null : toFlechette([sliceBatch(this.#batch, from, to)], this.options);
  }
}
