/**
 * The result of a query, chunk by chunk. A batch is borrowed: after the next call, it and everything in it shows the
 * next chunk. Its memory belongs to the stream, so a batch that is kept too long shows other rows but never crashes.
 *
 *   open ─next→ open … ─end of the result or an error→ ended ─close→ closed
 *   open ─nextAsync→ fetching ─close→ closing → closed (when the call returns)
 */
import type { RecordBatch, Schema, Vector } from "../arrow/index.ts";
import { KernelError } from "../errors/index.ts";
import { callAsync, functionAt } from "../native/index.ts";
import { ARRAY, Cells, destroyHandle } from "./cells.ts";
import type { Channel } from "./channel.ts";
import { ColumnOut } from "./column-out.ts";
import { throwErrorData } from "./failure.ts";
import { duckdb, type ResultStruct } from "./library.ts";
import { chunkRows } from "./wide.ts";

type State = "open" | "fetching" | "ended" | "closing" | "closed";

/** DuckDB releases every array with the same function. */
const releases = new Map<number, (array: number) => void>();

export class KernelStream {
  readonly schema: Schema;
  readonly #channel: Channel;
  readonly #done: (channel: Channel, stream: KernelStream) => void;
  readonly #result: ResultStruct;
  readonly #columns: readonly ColumnOut[];
  readonly #array: Cells;
  readonly #batch: { schema: Schema; length: number; columns: readonly Vector[] };
  #state: State = "open";

  /** `done` gets the channel back when nothing of the statement is left in it. */
  constructor(schema: Schema, channel: Channel, done: (channel: Channel, stream: KernelStream) => void) {
    this.schema = schema;
    this.#channel = channel;
    this.#done = done;
    this.#result = channel.result();
    const rows = chunkRows(schema.fields.length);
    this.#columns = schema.fields.map((field) => new ColumnOut(field.type, channel.scratch, rows));
    this.#array = new Cells(ARRAY.size + schema.fields.length);
    this.#batch = { schema, length: 0, columns: this.#columns.map((column) => column.vector) };
  }

  next(): RecordBatch | null {
    if (!this.#mayFetch()) return null;
    if (this.#channel.needsEventLoop) {
      throw new KernelError(
        "A stream over blocks of a kernel with several threads has only nextAsync: next would wait for itself forever.",
        "Threads",
      );
    }
    return this.#show(duckdb().fetchChunk(this.#result));
  }

  async nextAsync(): Promise<RecordBatch | null> {
    if (!this.#mayFetch()) return null;
    this.#state = "fetching";
    let chunk: number;
    try {
      chunk = await this.#channel.waitFor(callAsync(duckdb().fetchChunk, this.#result));
    } catch (error) {
      this.#end();
      throw error;
    }
    if (this.#wasClosed()) {
      if (chunk !== 0) destroyHandle(duckdb().destroyChunk, chunk);
      this.#abandon("closed");
      return null;
    }
    this.#state = "open";
    return this.#show(chunk);
  }

  close(): void {
    switch (this.#state) {
      case "open":
        this.#abandon("closed");
        return;
      case "fetching":
        this.#state = "closing";
        this.#channel.interrupt();
        return;
      case "ended":
        this.#state = "closed";
        return;
      default:
    }
  }

  // TypeScript assumes that the state is the same before and after an await.
  #wasClosed(): boolean {
    return this.#state === "closing";
  }

  #mayFetch(): boolean {
    switch (this.#state) {
      case "open":
        return true;
      case "ended":
        return false;
      case "fetching":
        throw new KernelError("This stream is fetching already: await nextAsync before the next call.", "Stream");
      default:
        throw new KernelError("This stream is closed.", "Stream");
    }
  }

  #show(chunk: number): RecordBatch | null {
    const api = duckdb();
    const rows = chunk === 0 ? 0 : api.chunkSize(chunk);
    try {
      this.#channel.checkInterrupted();
      if (rows === 0) {
        // An empty chunk may also mean an error.
        this.#channel.checkEnd();
        this.#end();
        return null;
      }
      if (this.#columns.length > 0) this.#read(chunk);
      this.#batch.length = rows;
      return this.#batch;
    } catch (error) {
      // With a chunk in hand the statement itself can go on.
      if (chunk === 0) this.#end();
      else this.#abandon("ended");
      throw error;
    } finally {
      if (chunk !== 0) destroyHandle(api.destroyChunk, chunk);
    }
  }

  #read(chunk: number): void {
    const array = this.#array;
    throwErrorData(
      duckdb().toArrow(this.#channel.arrowOptions, chunk, array.address),
      "while a result was turned into Arrow",
    );
    try {
      const columns = this.#columns;
      array.load(ARRAY.size, array.get(ARRAY.children), columns.length);
      for (let index = 0; index < columns.length; index++) columns[index]?.read(array.get(ARRAY.size + index));
    } finally {
      const at = array.get(ARRAY.release);
      let release = releases.get(at);
      if (release === undefined) {
        release = functionAt(at);
        releases.set(at, release);
      }
      release(array.address);
    }
  }

  #end(): void {
    this.#state = "ended";
    this.#channel.end();
    this.#done(this.#channel, this);
  }

  #abandon(state: "ended" | "closed"): void {
    this.#state = state;
    const channel = this.#channel;
    if (channel.needsEventLoop) {
      // In the background: the threads of the statement may be waiting for this thread right now.
      void channel.elsewhere(channel.abandon()).finally(() => this.#done(channel, this));
      return;
    }
    channel.here(channel.abandon());
    this.#done(channel, this);
  }
}
