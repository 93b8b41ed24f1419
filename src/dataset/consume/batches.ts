/** Batches of a fixed number of rows, assembled across blocks, in the requested format. */
import {
  BlockBuilder,
  ColumnAssembler,
  type Columns,
  compileRows,
  type RecordBatch,
  type Row,
  type RowReader,
  type Schema,
  schemaEquals,
  toFlechette,
  type ValueOptions,
} from "../../arrow/index.ts";
import type { ReceivedBlock } from "../engine.ts";
import type { Blocks } from "./blocks.ts";
import type { Cancellation } from "./cancellation.ts";
import { type LocalShuffle, Shuffler } from "./shuffler.ts";

export interface BatchesOptions {
  readonly batchSize: number;
  readonly batchFormat: "columns" | "rows" | "arrow";
  readonly prefetch: number;
  readonly dropLast: boolean;
  readonly localShuffle: LocalShuffle | null;
  /**
   * Blocks come in the order of the input: a seed promises the same batches again, which needs the rows in the same
   * order.
   */
  readonly inOrder: boolean;
  readonly values: ValueOptions;
}

/** Takes borrowed batches and gives full ones, which the reader may keep. */
interface Collector<B> {
  push(batch: RecordBatch): Iterable<B>;
  /** The remaining rows, fewer than a full batch. */
  rest(): B | null;
}

export function batchesOf(
  blocks: Blocks,
  options: BatchesOptions,
  cancellation: Cancellation,
): AsyncGenerator<unknown, void, undefined> {
  const left = new AbortController();
  const batches = collected(blocks(options.prefetch, left.signal), options, left.signal, cancellation);
  const leave = batches.return.bind(batches);
  batches.return = (value) => {
    left.abort();
    return leave(value);
  };
  return batches;
}

async function* collected(
  blocks: AsyncIterable<ReceivedBlock>,
  options: BatchesOptions,
  left: AbortSignal,
  cancellation: Cancellation,
): AsyncGenerator<unknown, void, undefined> {
  const collector = collectorFor(options);
  const shuffler = options.localShuffle === null ? null : new Shuffler(options.localShuffle);
  function* of(block: RecordBatch): Iterable<unknown> {
    if (shuffler === null) yield* collector.push(block);
    else for (const mixed of shuffler.push(block)) yield* collector.push(mixed);
  }
  for await (const block of blocks) {
    const forget = cancellation.onCancel(() => block.release());
    try {
      cancellation.check();
      for (const batch of of(block.read())) {
        yield batch;
        const room = block.room();
        if (room !== null) await room;
        // A cancel while the reader had the batch has released the block: nothing more may be read of it.
        cancellation.check();
      }
    } finally {
      forget();
      block.release();
    }
  }
  if (left.aborted) return;
  for (const mixed of shuffler?.rest() ?? []) yield* collector.push(mixed);
  const last = collector.rest();
  if (last !== null && !options.dropLast) yield last;
}

function collectorFor({ batchFormat, batchSize, values }: BatchesOptions): Collector<unknown> {
  switch (batchFormat) {
    case "columns":
      return new ColumnsCollector(batchSize, values);
    case "rows":
      return new RowsCollector(batchSize, values);
    case "arrow":
      return new ArrowCollector(batchSize, values);
  }
}

class ColumnsCollector implements Collector<Columns> {
  #assembler: ColumnAssembler | null = null;

  constructor(
    private readonly batchSize: number,
    private readonly values: ValueOptions,
  ) {}

  *push(batch: RecordBatch): Iterable<Columns> {
    this.#assembler ??= new ColumnAssembler(batch.schema, this.values, this.batchSize);
    this.#assembler.push(batch);
    for (let full = this.#assembler.next(); full !== null; full = this.#assembler.next()) yield full;
  }

  rest(): Columns | null {
    return this.#assembler?.flush() ?? null;
  }
}

class RowsCollector implements Collector<readonly Row[]> {
  #rows: Row[] = [];
  #reader: RowReader | null = null;
  #schema: Schema | null = null;

  constructor(
    private readonly batchSize: number,
    private readonly values: ValueOptions,
  ) {}

  *push(batch: RecordBatch): Iterable<readonly Row[]> {
    const same = this.#schema !== null && schemaEquals(this.#schema, batch.schema);
    const reader = same && this.#reader !== null ? this.#reader : compileRows(batch.schema, this.values);
    this.#reader = reader;
    this.#schema = batch.schema;
    for (let at = 0; at < batch.length; ) {
      // Load again after every yield: other code may have used the compiled reader for other rows meanwhile.
      reader.load(batch);
      const end = Math.min(batch.length, at + this.batchSize - this.#rows.length);
      for (; at < end; at++) this.#rows.push(reader.row(at));
      if (this.#rows.length < this.batchSize) return;
      const full = this.#rows;
      this.#rows = [];
      yield full;
    }
  }

  rest(): readonly Row[] | null {
    return this.#rows.length === 0 ? null : this.#rows;
  }
}

class ArrowCollector implements Collector<unknown> {
  readonly #builder = new BlockBuilder();

  constructor(
    private readonly batchSize: number,
    private readonly values: ValueOptions,
  ) {}

  *push(batch: RecordBatch): Iterable<unknown> {
    for (let at = 0; at < batch.length; ) {
      const end = Math.min(batch.length, at + this.batchSize - this.#builder.rows);
      this.#builder.append(batch, at, end);
      at = end;
      if (this.#builder.rows >= this.batchSize) yield this.#finish();
    }
  }

  rest(): unknown {
    return this.#builder.rows === 0 ? null : this.#finish();
  }

  #finish(): unknown {
    const batch = this.#builder.finish();
    return batch === null ? null : toFlechette([batch], this.values);
  }
}
