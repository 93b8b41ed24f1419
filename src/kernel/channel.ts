/**
 * One DuckDB connection and the one statement it runs: prepare, execute, fetch, end. DuckDB allows one open result a
 * connection, so the Connection that people see hands each stream a channel of its own.
 */
import { type Field, halfPair, type Schema } from "../arrow/index.ts";
import { KernelError } from "../errors/index.ts";
import { callAsync, type NativeFunction, textAt } from "../native/index.ts";
import { Cells, destroyHandle } from "./cells.ts";
import { kernelError } from "./failure.ts";
import { duckdb, RESULT_CELLS, type ResultStruct } from "./library.ts";
import { type ResultType, resultType } from "./result-types.ts";
import { Scratch } from "./scratch.ts";
import type { Reader, TableUse } from "./tables.ts";

const SELECT_STATEMENT = 1;
const STATEMENT = RESULT_CELLS;
const OPTIONS = RESULT_CELLS + 1;
const CONNECTION = RESULT_CELLS + 2;
const REPEAT_MILLISECONDS = 5;
const NO_FAILURE = Symbol("no failure");
/**
 * What is ready of a result before it is fetched. DuckDB counts the rows of a chunk, and a chunk has memory for 2,048
 * of them: of 20,000 files of one row, a chunk each, its own 976 KiB are gigabytes. Several threads need so much to
 * work side by side.
 */
const READY_AT_ONE_THREAD = "SET streaming_buffer_size = '64KB'";
const READY_AT_SEVERAL = "RESET streaming_buffer_size";
/**
 * DuckDB's rule for the first rows of each partition fails with this where a condition like `a BETWEEN 1 AND 2` is
 * below the window. The rule is worth a factor of eight where partitions are few, so it is left out only of a statement
 * that has met this.
 */
const TOP_ROWS_FAILED = /^INTERNAL Error: Failed to cast expression to type/;
const TOP_ROWS_OFF = "SET GLOBAL disabled_optimizers = 'top_n_window_elimination'";
const TOP_ROWS_ON = "RESET GLOBAL disabled_optimizers";

/** A C call that may be made here or on another thread. */
interface Call {
  readonly here: () => number;
  readonly elsewhere: () => Promise<number>;
}

function call<Arguments extends readonly unknown[]>(
  called: NativeFunction<Arguments, number>,
  ...values: Arguments
): Call {
  return { here: () => called(...values), elsewhere: () => callAsync(called, ...values) };
}

type Steps<Result> = Generator<Call, Result, number>;

/** How many threads a kernel has now; it may change between statements. */
export interface Threads {
  count: number;
}

export class Channel implements Reader {
  readonly id: number;
  readonly handle: number;
  readonly scratch = new Scratch();
  readonly uses: TableUse[] = [];
  failure: unknown = NO_FAILURE;
  readonly #cells = new Cells(RESULT_CELLS + 3);
  #synchronous = false;
  #hasResult = false;
  #sql = "";
  #interrupted = false;
  #ready = READY_AT_SEVERAL;
  #waiting = 0;
  #repeating: NodeJS.Timeout | null = null;

  constructor(
    database: number,
    private readonly kernelThreads: Threads,
  ) {
    const api = duckdb();
    if (api.connect(database, this.#cells.at(CONNECTION)) !== 0) {
      throw new KernelError("The kernel refused a connection.", "Connection");
    }
    this.handle = this.#cells.get(CONNECTION);
    this.id = connectionId(this.handle);
    api.arrowOptions(this.handle, this.#cells.at(OPTIONS));
  }

  get threads(): number {
    return this.kernelThreads.count;
  }

  get arrowOptions(): number {
    return this.#cells.get(OPTIONS);
  }

  get mayNotCallBack(): boolean {
    return this.#synchronous && this.threads > 1;
  }

  /** Whether its statement selects from a table that has nulls of no type. */
  get readsUntypedNulls(): boolean {
    if (!this.uses.some((use) => use.table.hasUntypedNulls)) return false;
    return duckdb().statementType(this.#cells.get(STATEMENT)) === SELECT_STATEMENT;
  }

  /** Whether its statement calls back through the event loop, so that nothing may wait for it on this thread. */
  get needsEventLoop(): boolean {
    return this.threads > 1 && this.uses.length > 0;
  }

  here<Result>(steps: Steps<Result>): Result {
    let step = steps.next();
    while (step.done !== true) {
      this.#synchronous = true;
      let answer: number;
      try {
        answer = step.value.here();
      } finally {
        this.#synchronous = false;
      }
      step = steps.next(answer);
    }
    return step.value;
  }

  async elsewhere<Result>(steps: Steps<Result>): Promise<Result> {
    let step = steps.next();
    while (step.done !== true) step = steps.next(await this.waitFor(step.value.elsewhere()));
    return step.value;
  }

  /** Waits for a call on another thread. */
  async waitFor(call: Promise<number>): Promise<number> {
    this.#waiting += 1;
    try {
      return await call;
    } finally {
      this.#waiting -= 1;
      if (this.#repeating !== null) clearInterval(this.#repeating);
      this.#repeating = null;
    }
  }

  /** Runs any SQL, several statements too, and drops the result. */
  *execute(sql: string): Steps<void> {
    const api = duckdb();
    this.#begin(sql);
    try {
      const state = yield call(api.query, this.handle, sql, this.#cells.address);
      this.#hasResult = true;
      if (state !== 0) throw this.#error(api.resultError(this.#cells.address));
    } finally {
      this.end();
    }
  }

  /** The result's schema, without running the statement. */
  *describe(sql: string): Steps<Schema> {
    try {
      yield* this.#prepare(sql);
      return schemaOf(this.#columns());
    } finally {
      this.end();
    }
  }

  /** Prepares and starts a statement; its chunks are fetched with `result`. The caller ends it. */
  *open(sql: string): Steps<Schema> {
    const api = duckdb();
    this.#keepReady(this.threads === 1 ? READY_AT_ONE_THREAD : READY_AT_SEVERAL);
    try {
      yield* this.#prepare(sql);
      const columns = this.#columns();
      if (columns.some((column) => column.type.cast)) {
        const isSelect = api.statementType(this.#cells.get(STATEMENT)) === SELECT_STATEMENT;
        this.checkInterrupted();
        this.end();
        yield* this.#prepare(isSelect ? withCasts(sql, columns) : refuseCasts(columns));
        this.#sql = sql;
      }
      this.checkInterrupted();
      const state = yield call(api.executeStreaming, this.#cells.get(STATEMENT), this.#cells.address);
      this.#hasResult = true;
      if (state !== 0) throw this.#error(api.resultError(this.#cells.address));
      return schemaOf(columns);
    } catch (error) {
      this.end();
      throw error;
    }
  }

  /** The running result as `duckdb_fetch_chunk` takes it. */
  result(): ResultStruct {
    const cell = (index: number) => this.#cells.get(index);
    return { a: cell(0), b: cell(1), c: cell(2), d: cell(3), e: cell(4), f: cell(5) };
  }

  /** Throws if there are no more chunks because something failed. */
  checkEnd(): void {
    const message = duckdb().resultError(this.#cells.address);
    if (message !== null && message !== "") throw this.#error(message);
  }

  /** Forgets a statement that has run to its end, failed, or not started. */
  end(): void {
    this.#destroy();
    for (const use of this.uses.splice(0)) use.end();
  }

  /**
   * Ends a statement that has not run to its end. DuckDB keeps its pipelines, and with them pointers into tables, until
   * the connection's next statement: so there is one.
   */
  *abandon(): Steps<void> {
    const api = duckdb();
    if (this.needsEventLoop) api.interrupt(this.handle);
    this.#destroy();
    yield call(api.prepare, this.handle, "SELECT 1", this.#cells.at(STATEMENT));
    this.end();
  }

  /** A statement that has not quite begun forgets the interrupt, so it is repeated until the call returns. */
  interrupt(): void {
    this.#interrupted = true;
    duckdb().interrupt(this.handle);
    if (this.#waiting === 0 || this.#repeating !== null) return;
    this.#repeating = setInterval(() => duckdb().interrupt(this.handle), REPEAT_MILLISECONDS);
  }

  /** An interrupt between two calls of a statement is noticed here. */
  checkInterrupted(): void {
    if (this.#interrupted) throw new KernelError("INTERRUPT Error: Interrupted!", "Interrupt", this.#sql);
  }

  disconnect(): void {
    const api = duckdb();
    api.destroyArrowOptions(this.#cells.at(OPTIONS));
    api.disconnect(this.#cells.at(CONNECTION));
  }

  #begin(sql: string): void {
    if (sql.includes("\0")) {
      throw new KernelError("SQL may not have a zero character: use quoteText for texts.", "Parser", sql);
    }
    const half = halfPair(sql);
    if (half !== null) throw new KernelError(`The SQL has ${half}.`, "Parser", sql);
    this.#sql = sql;
    this.failure = NO_FAILURE;
    this.#interrupted = false;
  }

  /** Here and at once, since it is no part of the statement: an interrupt in the middle of it would be forgotten. */
  #keepReady(setting: string): void {
    if (setting === this.#ready) return;
    this.#set(setting);
    this.#ready = setting;
  }

  #set(setting: string): void {
    const api = duckdb();
    api.query(this.handle, setting, this.#cells.address);
    api.destroyResult(this.#cells.address);
  }

  *#prepare(sql: string): Steps<void> {
    const api = duckdb();
    this.#begin(sql);
    const prepare = call(api.prepare, this.handle, sql, this.#cells.at(STATEMENT));
    if ((yield prepare) === 0) return;
    if (TOP_ROWS_FAILED.test(api.prepareError(this.#cells.get(STATEMENT)) ?? "")) {
      this.checkInterrupted();
      this.end();
      if (this.#withoutTopRows(prepare) === 0) return;
    }
    throw this.#error(api.prepareError(this.#cells.get(STATEMENT)));
  }

  /** In one turn, since the setting is the whole database's: another channel would take it back in between. */
  #withoutTopRows(prepare: Call): number {
    this.#set(TOP_ROWS_OFF);
    try {
      return prepare.here();
    } finally {
      this.#set(TOP_ROWS_ON);
    }
  }

  #columns(): Column[] {
    const api = duckdb();
    const statement = this.#cells.get(STATEMENT);
    const count = api.columnCount(statement);
    return Array.from({ length: count }, (_, index) => {
      const at = api.columnName(statement, index);
      const name = textAt(at);
      api.free(at);
      const handle = api.columnType(statement, index);
      try {
        return { name, type: resultType(handle, name) };
      } finally {
        destroyHandle(api.destroyType, handle);
      }
    });
  }

  #destroy(): void {
    const api = duckdb();
    if (this.#hasResult) api.destroyResult(this.#cells.address);
    this.#hasResult = false;
    if (this.#cells.get(STATEMENT) !== 0) api.destroyPrepare(this.#cells.at(STATEMENT));
    this.#cells.set(STATEMENT, 0);
  }

  #error(message: string | null): unknown {
    return this.failure === NO_FAILURE ? kernelError(message, this.#sql) : this.failure;
  }
}

function connectionId(handle: number): number {
  const api = duckdb();
  const context = new Cells(1);
  api.connectionContext(handle, context.address);
  const id = api.contextId(context.get(0));
  api.destroyContext(context.address);
  return id;
}

interface Column {
  readonly name: string;
  readonly type: ResultType;
}

function schemaOf(columns: readonly Column[]): Schema {
  return { fields: columns.map(({ name, type }): Field => ({ name, type: type.type, nullable: true })) };
}

/** Columns are renamed on the way, since a result may have a name twice. */
function withCasts(sql: string, columns: readonly Column[]): string {
  const casts = columns.map(({ type }, index) => (type.cast ? `CAST(c${index} AS ${type.sql})` : `c${index}`));
  const names = columns.map((_, index) => `c${index}`);
  return `SELECT ${casts.join(", ")} FROM (\n${sql.replace(/[;\s]+$/, "")}\n) AS result(${names.join(", ")})`;
}

function refuseCasts(columns: readonly Column[]): never {
  const names = columns.filter(({ type }) => type.cast).map(({ name }) => `"${name}"`);
  throw new KernelError(
    `The statement returns ${names.join(", ")} in types that do not cross into Arrow: cast them to VARCHAR in it.`,
    "Not implemented",
  );
}
