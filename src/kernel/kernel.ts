/**
 * A DuckDB database in memory, with the settings that all callers rely on. One in a process is enough; tests have
 * several side by side.
 */
import { quoteText, type RecordBatch, type Schema } from "../arrow/index.ts";
import { KernelError } from "../errors/index.ts";
import { textAt } from "../native/index.ts";
import { Cells } from "./cells.ts";
import { Channel, type Threads } from "./channel.ts";
import { Connection, type ConnectionHost } from "./connection.ts";
import { Conversions } from "./conversions.ts";
import { EXACT_TEXTS } from "./exact-texts.ts";
import { kernelError } from "./failure.ts";
import { duckdb } from "./library.ts";
import { ChunkPool } from "./table-memory.ts";
import { createTable, type KernelTable, registerBlockFunction } from "./tables.ts";

interface KernelOptions {
  readonly threads: number;
  /** Bytes. DuckDB's limit covers its buffers only: with two threads the process takes 1.4 to 1.8 times as much. */
  readonly memoryLimit?: number;
  /** Where DuckDB spills. Without a directory it does not spill. DuckDB makes the directory when it first needs it. */
  readonly tempDirectory?: string;
}

/** Settings that may change while a kernel is open. A missing one stays as it is. */
interface KernelSettings {
  readonly threads?: number;
  /** Null: DuckDB's default, which is most of the machine's memory. */
  readonly memoryLimit?: number | null;
  /** May only change as long as nothing was spilled. */
  readonly tempDirectory?: string;
  /**
   * False: results, and files written from them, may come in any order unless the SQL asks for one. That takes less
   * memory.
   */
  readonly keepOrder?: boolean;
}

/** Bytes of chunks for copies of JavaScript buffers that are kept for the next table. */
const KEPT_TABLE_BYTES = 8 << 20;

function settings(options: KernelOptions): Readonly<Record<string, string>> {
  return {
    threads: String(options.threads),
    ...(options.memoryLimit === undefined ? {} : { memory_limit: `${Math.floor(options.memoryLimit)}B` }),
    temp_directory: options.tempDirectory ?? "",
    // libduckdb contains jemalloc. With this setting jemalloc gives memory back by itself (270 to 14 MB in 3 s);
    // malloc_trim has no effect on it.
    allocator_background_threads: "true",
    // The system keeps the bytes of files already. The kernel's own copies take fresh memory: 4 KB for a page of a few
    // bytes, which makes reading 20,000 such pages twice as expensive.
    enable_external_file_cache: "false",
    // No network: a feature that is not built in is an error.
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    // Blocks must come in the same order when a task is retried.
    preserve_insertion_order: "true",
    // Generated SQL is deep, and the default of 1,000 would be too little. Beyond 2,400 the parser itself gives up (the
    // stack is 8 MiB).
    max_expression_depth: "2500",
    arrow_large_buffer_size: "false",
    arrow_lossless_conversion: "false",
    arrow_output_list_view: "false",
    produce_arrow_string_view: "false",
  };
}

/** Settings of extensions, which exist only once the database is open. */
const EXTENSION_SETTINGS = "SET GLOBAL parquet_metadata_cache = true; SET GLOBAL TimeZone = 'UTC';";

const kernels = new Map<number, Kernel>();
let lastNumber = 0;

export class Kernel implements ConnectionHost {
  readonly version: string;
  readonly #number: number;
  readonly #database: number;
  readonly #cells: Cells;
  readonly #threads: Threads;
  readonly #connections = new Set<Connection>();
  readonly #channels = new Map<number, Channel>();
  /** Runs no SQL: conversions of Arrow data need a connection. */
  readonly #helper: Channel;
  readonly #conversions: Conversions;
  readonly #pool = new ChunkPool(KEPT_TABLE_BYTES);
  #closed = false;

  static open(options: KernelOptions): Kernel {
    return new Kernel(options);
  }

  private constructor(options: KernelOptions) {
    refuseThreads(options.threads);
    this.version = duckdb().version();
    this.#threads = { count: options.threads };
    this.#cells = openDatabase(settings(options));
    this.#database = this.#cells.get(0);
    lastNumber += 1;
    this.#number = lastNumber;
    kernels.set(this.#number, this);
    this.#helper = new Channel(this.#database, this.#threads);
    this.#conversions = new Conversions(this.#helper.handle);
    registerBlockFunction(this.#helper.handle, this.#number, (database, connection) =>
      kernels.get(database)?.channel(connection),
    );
    this.#helper.here(this.#helper.execute(`${EXTENSION_SETTINGS} ${EXACT_TEXTS}`));
  }

  get threads(): number {
    return this.#threads.count;
  }

  /**
   * Waits for running statements if the number of threads goes down. Running statements must not read tables in this
   * thread's memory.
   */
  set(changed: KernelSettings): void {
    const sql = settingsSql(changed);
    if (sql === "") return;
    this.#helper.here(this.#helper.execute(sql));
    if (changed.threads !== undefined) this.#threads.count = changed.threads;
  }

  connect(): Connection {
    if (this.#closed) throw new KernelError("This kernel is closed.", "Connection");
    const connection = new Connection(this);
    this.#connections.add(connection);
    return connection;
  }

  /** Closes its connections and their streams. Statements that still run end first, in the background. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const connection of this.#connections) connection.close();
    this.#closeIfIdle();
  }

  channel(id: number): Channel | undefined {
    return this.#channels.get(id);
  }

  openChannel(): Channel {
    const channel = new Channel(this.#database, this.#threads);
    this.#channels.set(channel.id, channel);
    return channel;
  }

  closeChannel(channel: Channel): void {
    this.#channels.delete(channel.id);
    channel.disconnect();
    this.#closeIfIdle();
  }

  createTable(batches: readonly RecordBatch[], schema: Schema, width: number): KernelTable {
    return createTable(batches, schema, this.#conversions, this.#pool, width);
  }

  forget(connection: Connection): void {
    this.#connections.delete(connection);
  }

  #closeIfIdle(): void {
    if (!this.#closed || this.#channels.size > 0 || !kernels.delete(this.#number)) return;
    this.#conversions.close();
    this.#helper.disconnect();
    duckdb().close(this.#cells.address);
    this.#pool.clear();
  }
}

function refuseThreads(threads: number): void {
  if (Number.isInteger(threads) && threads >= 1) return;
  throw new KernelError(`A kernel needs a whole number of threads from 1, not ${threads}.`, "Settings");
}

export function settingsSql({ threads, memoryLimit, tempDirectory, keepOrder }: KernelSettings): string {
  const statements: string[] = [];
  if (threads !== undefined) {
    refuseThreads(threads);
    statements.push(`SET GLOBAL threads = ${threads}`);
  }
  if (memoryLimit === null) statements.push("RESET GLOBAL memory_limit");
  else if (memoryLimit !== undefined) statements.push(`SET GLOBAL memory_limit = '${Math.floor(memoryLimit)}B'`);
  if (tempDirectory !== undefined) statements.push(`SET GLOBAL temp_directory = ${quoteText(tempDirectory)}`);
  if (keepOrder !== undefined) statements.push(`SET GLOBAL preserve_insertion_order = ${keepOrder}`);
  return statements.join("; ");
}

function openDatabase(values: Readonly<Record<string, string>>): Cells {
  const api = duckdb();
  const cells = new Cells(3);
  api.createConfig(cells.at(1));
  try {
    for (const [name, value] of Object.entries(values)) {
      if (api.setConfig(cells.get(1), name, value) !== 0) {
        throw new KernelError(`The kernel has no setting ${name} = ${value}.`, "Settings");
      }
    }
    if (api.openExt(null, cells.address, cells.get(1), cells.at(2)) !== 0) {
      const message = textAt(cells.get(2));
      api.free(cells.get(2));
      throw kernelError(message, null);
    }
    return cells;
  } finally {
    api.destroyConfig(cells.at(1));
  }
}
