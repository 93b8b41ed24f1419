/**
 * Record batches as tables in SQL. DuckDB's own Arrow scan gives wrong rows for anything but one plain SELECT *, and a
 * table function cannot be unregistered; so each database has one, `block(id)`, which looks the id up here.
 *
 *   bind  (a statement names block(17))   → declares the columns, holds the table until the statement ends
 *   init  (a scan of it starts)           → chooses the columns asked for
 *   next  (until it gives no rows)        → shows the next 2,048 rows of them, or fewer if rows are wide
 *
 * DuckDB calls the three: on this thread during a synchronous call, through the event loop during an asynchronous one.
 * No error may leave them: it is kept with the statement's channel, and the code that ran the statement throws it.
 */
import { type DataType, MANY_COLUMNS, type RecordBatch, type Schema, typeEquals, typeName } from "../arrow/index.ts";
import { KernelError } from "../errors/index.ts";
import { exportFunction } from "../native/index.ts";
import { messageOf } from "../realm/index.ts";
import { Cells, destroyHandle } from "./cells.ts";
import { ArrayIn, type ColumnIn, columnIn } from "./column-in.ts";
import type { Conversion, Conversions } from "./conversions.ts";
import { acceptedType, acceptedVector } from "./intake.ts";
import { duckdb } from "./library.ts";
import { type ChunkPool, TableMemory } from "./table-memory.ts";
import { hasUntypedNulls } from "./untyped-nulls.ts";
import { chunkRows } from "./wide.ts";

/** Can be used in SQL as `sql` until `release`. */
export interface KernelTable {
  readonly sql: string;
  release(): void;
}

const BIGINT = 5;

class Table implements KernelTable {
  readonly sql: string;
  readonly rows: number;
  readonly types: readonly DataType[];
  readonly hasUntypedNulls: boolean;
  readonly #memory: TableMemory;
  readonly #columns: (ColumnIn | undefined)[][];
  #uses = 0;
  #released = false;

  constructor(
    readonly id: number,
    readonly batches: readonly RecordBatch[],
    readonly schema: Schema,
    readonly conversions: Conversions,
    pool: ChunkPool,
    readonly chunkRows: number,
  ) {
    this.sql = `block(${id})`;
    this.rows = batches.reduce((sum, batch) => sum + batch.length, 0);
    this.types = schema.fields.map((field) => acceptedType(field.type));
    this.hasUntypedNulls = this.types.some(hasUntypedNulls);
    this.#memory = new TableMemory(pool, schema.fields.length > MANY_COLUMNS);
    this.#columns = batches.map(() => []);
  }

  /** Converted and placed when first used: columns that no query asks for cost nothing. */
  column(batch: number, index: number): ColumnIn {
    const known = this.#columns[batch]?.[index];
    if (known !== undefined) return known;
    const vector = this.batches[batch]?.columns[index];
    const name = this.schema.fields[index]?.name ?? String(index);
    if (vector === undefined) throw new KernelError(`${this.sql} has no column ${index} ("${name}").`, "Arrow");
    const accepted = acceptedVector(vector);
    const declared = this.types[index];
    // A vector of a type other than the declared one would be read as garbage, or past its end.
    if (declared === undefined || !typeEquals(accepted.type, declared)) {
      throw new KernelError(
        `Column "${name}" of ${this.sql} is ${typeName(accepted.type)} in batch ${batch}, which the table's schema does not say.`,
        "Arrow",
      );
    }
    const column = columnIn(accepted, this.#memory, name);
    const columns = this.#columns[batch];
    if (columns !== undefined) columns[index] = column;
    return column;
  }

  use(): void {
    this.#uses += 1;
  }

  unuse(): void {
    this.#uses -= 1;
    this.#freeIfDone();
  }

  /** The memory is freed when the last statement that reads the table has ended. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    tables.delete(this.id);
    this.#freeIfDone();
  }

  #freeIfDone(): void {
    if (this.#released && this.#uses === 0) this.#memory.free();
  }
}

/** What a table needs to know about the connection whose statement reads it. */
export interface Reader {
  /**
   * True during a synchronous call of a kernel with several threads: their callbacks would wait for this thread for
   * ever.
   */
  readonly mayNotCallBack: boolean;
  readonly threads: number;
  /** The error of a callback. The code that ran the statement throws it. */
  failure: unknown;
  /** The tables that the statement names. */
  readonly uses: TableUse[];
}

/** One mention of a table in a statement. */
class TableUse {
  readonly scans = new Set<Scan>();

  constructor(
    readonly id: number,
    readonly table: Table,
    readonly reader: Reader,
  ) {
    table.use();
    uses.set(id, this);
  }

  end(): void {
    uses.delete(this.id);
    for (const scan of this.scans) scan.end();
    this.table.unuse();
  }
}

export type { TableUse };

/** One pass over a table. */
class Scan {
  readonly #conversion: Conversion | null;
  readonly #array: ArrayIn;
  /** The position in the table of each converted column. */
  readonly #columns: readonly number[];
  #batch = 0;
  #row = 0;
  #shown: readonly ColumnIn[] = [];

  constructor(
    readonly id: number,
    readonly use: TableUse,
    /**
     * The position in the table of each output column. A position beyond the table's width means that only the number
     * of rows is needed.
     */
    readonly output: readonly number[],
  ) {
    const { table } = use;
    this.#columns = output.filter((column) => column < table.types.length);
    const types = this.#columns.flatMap((column) => table.types[column] ?? []);
    this.#array = new ArrayIn(types);
    this.#conversion = types.length === 0 ? null : table.conversions.acquire(types);
    use.scans.add(this);
    scans.set(id, this);
  }

  end(): void {
    if (!this.use.scans.delete(this)) return;
    scans.delete(this.id);
    if (this.#conversion !== null) this.use.table.conversions.release(this.#conversion);
  }

  next(chunk: number): void {
    const api = duckdb();
    const { table } = this.use;
    while (this.#batch < table.batches.length && this.#row === table.batches[this.#batch]?.length) {
      this.#batch += 1;
      this.#row = 0;
    }
    const batch = table.batches[this.#batch];
    if (batch === undefined) {
      this.end();
      api.setChunkSize(chunk, 0);
      return;
    }
    const rows = Math.min(table.chunkRows, batch.length - this.#row);
    if (this.#conversion !== null) {
      if (this.#row === 0) this.#shown = this.#columns.map((column) => table.column(this.#batch, column));
      this.#array.show(this.#shown, this.#row, rows);
      this.#refer(chunk, table.conversions.chunk(this.#array, this.#conversion));
    }
    api.setChunkSize(chunk, rows);
    this.#row += rows;
  }

  #refer(chunk: number, converted: number): void {
    const api = duckdb();
    let from = 0;
    for (let to = 0; to < this.output.length; to++) {
      if ((this.output[to] ?? 0) >= this.use.table.types.length) continue;
      api.referenceVector(api.chunkVector(chunk, to), api.chunkVector(converted, from));
      from += 1;
    }
    destroyHandle(api.destroyChunk, converted);
  }
}

const tables = new Map<number, Table>();
const uses = new Map<number, TableUse>();
const scans = new Map<number, Scan>();
let lastId = 0;
const nextId = () => {
  lastId += 1;
  return lastId;
};

export function createTable(
  batches: readonly RecordBatch[],
  schema: Schema,
  conversions: Conversions,
  pool: ChunkPool,
  /** The most columns that the table or a statement over it has. */
  width: number,
): KernelTable {
  const table = new Table(nextId(), batches, schema, conversions, pool, chunkRows(width));
  tables.set(table.id, table);
  return table;
}

/** Finds a connection by the number of its database and its id. */
type FindReader = (database: number, connection: number) => Reader | undefined;

let callbacks: { readonly bind: number; readonly init: number; readonly next: number } | null = null;
let findReader: FindReader = () => undefined;

/** Makes `block(id)` known to a database. */
export function registerBlockFunction(connection: number, database: number, find: FindReader): void {
  const api = duckdb();
  findReader = find;
  callbacks ??= {
    bind: exportFunction(1, (info = 0) => bind(info)),
    init: exportFunction(1, (info = 0) => init(info)),
    next: exportFunction(2, (info = 0, chunk = 0) => next(info, chunk)),
  };
  const made = api.createTableFunction();
  api.setFunctionName(made, "block");
  const bigint = api.createType(BIGINT);
  api.addParameter(made, bigint);
  destroyHandle(api.destroyType, bigint);
  api.setExtraInfo(made, database, 0);
  api.setBind(made, callbacks.bind);
  api.setInit(made, callbacks.init);
  api.setFunction(made, callbacks.next);
  api.setPushdown(made, true);
  const state = api.registerFunction(connection, made);
  destroyHandle(api.destroyTableFunction, made);
  if (state !== 0) throw new KernelError("The table function for blocks could not be registered.", "Internal");
}

const out = new Cells(1);

function readerOf(info: number): Reader | undefined {
  const api = duckdb();
  api.bindContext(info, out.address);
  const context = out.get(0);
  const connection = api.contextId(context);
  destroyHandle(api.destroyContext, context);
  return findReader(api.bindExtraInfo(info), connection);
}

function bind(info: number): void {
  const api = duckdb();
  let reader: Reader | undefined;
  try {
    reader = readerOf(info);
    const value = api.bindParameter(info, 0);
    const id = api.valueInt64(value);
    destroyHandle(api.destroyValue, value);
    const table = tables.get(id);
    if (reader === undefined) throw new KernelError(`block(${id}) is read by an unknown connection.`, "Internal");
    if (table === undefined)
      throw new KernelError(`There is no block(${id}): it was released, or never was.`, "Binder");
    if (reader.mayNotCallBack) {
      throw new KernelError(
        `block(${id}) cannot be read by a synchronous call of a kernel with several threads: use queryAsync or executeAsync, or open the kernel with threads: 1.`,
        "Threads",
      );
    }
    const { fields } = table.schema;
    for (const [index, type] of table.types.entries()) {
      api.bindColumn(info, fields[index]?.name ?? "", table.conversions.logicalType(type));
    }
    api.bindCardinality(info, table.rows, true);
    const use = new TableUse(nextId(), table, reader);
    reader.uses.push(use);
    api.setBindData(info, use.id, 0);
  } catch (error) {
    if (reader !== undefined) reader.failure = error;
    api.bindError(info, messageOf(error));
  }
}

function init(info: number): void {
  const api = duckdb();
  const use = uses.get(api.initBindData(info));
  try {
    if (use === undefined) throw new KernelError("A scan of a block began after its statement had ended.", "Internal");
    const count = api.initColumnCount(info);
    const output = Array.from({ length: count }, (_, index) => Number(api.initColumn(info, index)));
    const scan = new Scan(nextId(), use, output);
    // Slices are handed out here, one at a time. The operators above in the kernel's plan may run in several threads.
    api.setMaxThreads(info, use.reader.threads);
    api.setInitData(info, scan.id, 0);
  } catch (error) {
    if (use !== undefined) use.reader.failure = error;
    api.initError(info, messageOf(error));
  }
}

function next(info: number, chunk: number): void {
  const api = duckdb();
  const scan = scans.get(api.functionInitData(info));
  if (scan === undefined) {
    api.setChunkSize(chunk, 0);
    return;
  }
  try {
    scan.next(chunk);
  } catch (error) {
    scan.use.reader.failure = error;
    api.setChunkSize(chunk, 0);
    api.functionError(info, messageOf(error));
  }
}
