/**
 * The public interface of a kernel: SQL in; rows, streams or nothing out. Any number of streams may be open at once,
 * each with a DuckDB connection of its own. Temporary tables and transactions belong to one such connection, so use
 * plain tables (the database is in memory and private to this process).
 */
import { compileRows, type RecordBatch, type Row, type Schema, type ValueOptions } from "../arrow/index.ts";
import { KernelError } from "../errors/index.ts";
import type { Channel } from "./channel.ts";
import { KernelStream } from "./stream.ts";
import type { KernelTable } from "./tables.ts";
import { mayBeUntyped, typesInside, withUntypedNulls } from "./untyped-nulls.ts";

/** What a connection needs from its kernel. */
export interface ConnectionHost {
  openChannel(): Channel;
  closeChannel(channel: Channel): void;
  createTable(batches: readonly RecordBatch[], schema: Schema, width: number): KernelTable;
  forget(connection: Connection): void;
}

export class Connection {
  readonly #host: ConnectionHost;
  /** The channel freed last is used first: a single user always gets the same one. */
  readonly #idle: Channel[] = [];
  readonly #busy = new Set<Channel>();
  readonly #streams = new Set<KernelStream>();
  #closed = false;

  constructor(host: ConnectionHost) {
    this.#host = host;
  }

  execute(sql: string): void {
    this.#with((channel) => channel.here(channel.execute(sql)));
  }

  async executeAsync(sql: string): Promise<void> {
    await this.#withAsync((channel) => channel.elsewhere(channel.execute(sql)));
  }

  query(sql: string): KernelStream {
    const channel = this.#acquire();
    try {
      const schema = channel.here(channel.open(sql));
      return this.#stream(this.#untypedNulls(sql, schema, channel), channel);
    } catch (error) {
      this.#release(channel);
      throw error;
    }
  }

  /**
   * `untypedNulls`: nulls of no type in the result stay untyped. Has no effect over batches in a kernel with several
   * threads.
   */
  async queryAsync(sql: string, { untypedNulls = false } = {}): Promise<KernelStream> {
    const channel = this.#acquire();
    try {
      const schema = await channel.elsewhere(channel.open(sql));
      return this.#stream(untypedNulls ? this.#typesInside(sql, schema) : schema, channel);
    } catch (error) {
      this.#release(channel);
      throw error;
    }
  }

  /** Runs a query with a small result and returns plain rows. */
  all(sql: string, values: ValueOptions = {}): Row[] {
    const stream = this.query(sql);
    try {
      const rows: Row[] = [];
      const reader = compileRows(stream.schema, values);
      for (let batch = stream.next(); batch !== null; batch = stream.next()) {
        reader.load(batch);
        for (let row = 0; row < batch.length; row++) rows.push(reader.row(row));
      }
      return rows;
    } finally {
      stream.close();
    }
  }

  /** The schema of a query's result, without running it. */
  describe(sql: string): Schema {
    return this.#with((channel) => channel.here(channel.describe(sql)));
  }

  /**
   * Makes the batches a table for SQL. They and their memory must stay unchanged until `release` is called and the
   * statements that read them have ended. `columns`: how many columns a statement over it makes, if more than it has.
   */
  table(batches: readonly RecordBatch[], schema?: Schema, columns = 0): KernelTable {
    this.#checkOpen();
    const known = schema ?? batches[0]?.schema;
    if (known === undefined) {
      throw new KernelError("A table of no batches needs its schema: table([], schema).", "Arrow");
    }
    return this.#host.createTable(batches, known, Math.max(columns, known.fields.length));
  }

  /** Stops what runs on this connection. It fails with a KernelError of kind "Interrupt". */
  interrupt(): void {
    for (const channel of this.#busy) channel.interrupt();
  }

  /** How far the slowest of its running statements is, from 0 to 1; null: not known. */
  get progress(): number | null {
    let least: number | null = null;
    for (const { progress } of this.#busy) if (progress !== null) least = Math.min(least ?? 1, progress);
    return least;
  }

  close(): void {
    if (this.#closed) return;
    for (const stream of this.#streams) stream.close();
    this.#closed = true;
    for (const channel of this.#idle.splice(0)) this.#host.closeChannel(channel);
    this.#host.forget(this);
  }

  #checkOpen(): void {
    if (this.#closed) throw new KernelError("This connection is closed.", "Connection");
  }

  /**
   * Asks only if the statement reads a table with such columns, and only on this thread: tables are read by synchronous
   * queries.
   */
  #untypedNulls(sql: string, schema: Schema, channel: Channel): Schema {
    return channel.readsUntypedNulls ? this.#typesInside(sql, schema) : schema;
  }

  #typesInside(sql: string, schema: Schema): Schema {
    if (!mayBeUntyped(schema)) return schema;
    const [inside] = this.all(typesInside(sql, schema));
    return inside === undefined ? schema : withUntypedNulls(schema, inside);
  }

  #stream(schema: Schema, channel: Channel): KernelStream {
    const stream = new KernelStream(schema, channel, (given, done) => {
      this.#streams.delete(done);
      this.#release(given);
    });
    this.#streams.add(stream);
    return stream;
  }

  #acquire(): Channel {
    this.#checkOpen();
    const channel = this.#idle.pop() ?? this.#host.openChannel();
    this.#busy.add(channel);
    return channel;
  }

  #release(channel: Channel): void {
    channel.scratch.reset();
    this.#busy.delete(channel);
    if (this.#closed) this.#host.closeChannel(channel);
    else this.#idle.push(channel);
  }

  #with<Result>(work: (channel: Channel) => Result): Result {
    const channel = this.#acquire();
    try {
      return work(channel);
    } finally {
      this.#release(channel);
    }
  }

  async #withAsync<Result>(work: (channel: Channel) => Promise<Result>): Promise<Result> {
    const channel = this.#acquire();
    try {
      return await work(channel);
    } finally {
      this.#release(channel);
    }
  }
}
