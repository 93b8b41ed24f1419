/**
 * Writes rows to files in the job's staging directory; the supervisor moves them when the whole job is done. A file is
 * written from one piece of rows in memory: a block's worth, or what `maxRowsPerFile` and `targetFileSize` allow. (A
 * task that consists only of SQL needs none of this: the kernel writes as it reads, see copy.ts.)
 */
import { type BlockBuilder, MANY_COLUMNS, type RecordBatch, type Schema } from "../../arrow/index.ts";
import type { Connection } from "../../kernel/index.ts";
import type { Bytes, FileSink as FileSinkSpec, WrittenFile } from "../../protocol/index.ts";
import { namingColumns } from "../kernel-errors.ts";
import { LARGEST_ROW_GROUP, SMALLEST_ROW_GROUP, wideRowGroup, writeTable } from "./copy.ts";
import type { Held, TaskSink } from "./sink.ts";

/**
 * For a file of the requested size, this many times the usual number of bytes may be held. Anything larger becomes two
 * files.
 */
const MOST_FOR_ONE_FILE = 4;
/**
 * Share of the held bytes: in addition to these, the writer takes four times a row group (its rows, their dictionaries,
 * the pages). With this share a worker that holds 25 MiB stays at 120 MiB; without it, at 190 MiB.
 */
const ROW_GROUP_SHARE = 0.25;

export class FileSink implements TaskSink {
  rows = 0;
  bytes = 0;
  readonly files: WrittenFile[] = [];
  schema: Schema | null = null;
  readonly takesEach = true;
  readonly wanted = Number.POSITIVE_INFINITY;
  readonly #held: BlockBuilder;
  /** Bytes of Arrow for each byte of file, learned from the files written so far. */
  #shrink = 1;
  #sequence = 0;

  constructor(
    private readonly spec: FileSinkSpec,
    private readonly prefix: string,
    private readonly connection: Connection,
    scratch: BlockBuilder,
  ) {
    this.#held = scratch;
  }

  /** In files they will take less. */
  get unsealed(): Held {
    return { rows: this.#held.rows, bytes: this.#held.byteLength / this.#shrink };
  }

  push(batch: RecordBatch): void {
    const { maxRowsPerFile, partitionBy } = this.spec;
    // With partitions the rows go to many files, and are cut when they are written.
    const most = partitionBy.length > 0 ? Number.POSITIVE_INFINITY : (maxRowsPerFile ?? Number.POSITIVE_INFINITY);
    if (batch.length <= 4096 && this.#held.rows + batch.length < most) {
      this.#held.append(batch);
      if (this.#held.byteLength >= this.#heldLimit()) this.#write();
      return;
    }
    this.#pushInPieces(batch, most);
  }

  end(): void {
    if (this.#held.rows > 0) this.#write();
  }

  close(): void {}

  #pushInPieces(batch: RecordBatch, most: number): void {
    for (let start = 0; start < batch.length; ) {
      const end = Math.min(batch.length, start + 2048, start + most - this.#held.rows);
      this.#held.append(batch, start, end);
      start = end;
      if (this.#held.rows >= most || this.#held.byteLength >= this.#heldLimit()) this.#write();
    }
  }

  #heldLimit(): Bytes {
    const { targetFileSize, heldBytes } = this.spec;
    if (targetFileSize === null) return heldBytes;
    return Math.min(heldBytes * MOST_FOR_ONE_FILE, targetFileSize * this.#shrink);
  }

  #write(): void {
    const bytes = this.#held.byteLength;
    const batch = this.#held.finish();
    if (batch === null) return;
    this.schema = batch.schema;
    const name = `${this.prefix}-${String(this.#sequence++).padStart(3, "0")}`;
    const table = this.connection.table([batch]);
    try {
      const written = writeTable(this.connection, table.sql, this.spec, name, rowGroup(batch, bytes, this.spec));
      for (const file of written.files) {
        this.files.push(file);
        this.bytes += file.bytes;
        if (file.bytes > 0) this.#shrink = bytes / file.bytes;
      }
      this.rows += batch.length;
    } catch (error) {
      throw namingColumns(error, "partitionBy", () => batch.schema.fields.map((field) => field.name));
    } finally {
      table.release();
    }
  }
}

function rowGroup({ length: rows, columns }: RecordBatch, bytes: Bytes, { heldBytes }: FileSinkSpec): number {
  if (columns.length > MANY_COLUMNS) return wideRowGroup(columns.length);
  const fits = Math.floor((heldBytes * ROW_GROUP_SHARE * rows) / Math.max(1, bytes));
  return Math.min(LARGEST_ROW_GROUP, Math.max(SMALLEST_ROW_GROUP, fits));
}
