/**
 * One DuckDB connection and the one statement it runs: prepare, execute, fetch, end. DuckDB allows one open result a
 * connection, so the public Connection gives each stream a channel of its own.
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
import { namedColumns } from "./wide.ts";

const SELECT_STATEMENT = 1;
const STATEMENT = RESULT_CELLS;
const OPTIONS = RESULT_CELLS + 1;
const CONNECTION = RESULT_CELLS + 2;
const REPEAT_MILLISECONDS = 5;
/** DuckDB follows its progress only where it would draw a bar; it draws none. */
const FOLLOW_PROGRESS = "SET enable_progress_bar = true; SET enable_progress_bar_print = false";
const NO_FAILURE = Symbol("no failure");
/**
 * How much of a result is made before it is fetched. DuckDB counts the bytes of the rows, but a chunk has memory for
 * 2,048 rows: with 20,000 files of one row, one chunk each, its default of 976 KiB takes gigabytes. With several
 * threads the default is needed, so that they can work side by side.
 */
const READY_AT_ONE_THREAD = "SET streaming_buffer_size = '64KB'";
const READY_AT_SEVERAL = "RESET streaming_buffer_size";
/**
 * DuckDB's optimiser rule for the first rows of each partition fails with this error if a condition like `a BETWEEN 1
 * AND 2` is below the window. With few partitions the rule makes the statement eight times faster, so it is disabled
 * only for a statement that has failed in this way.
 */
const TOP_ROWS_FAILED = /^INTERNAL Error: Failed to cast expression to type/;
const TOP_ROWS_OFF = "SET GLOBAL disabled_optimizers = 'top_n_window_elimination'";
const TOP_ROWS_ON = "RESET GLOBAL disabled_optimizers";

/**
 * DuckDB's optimiser compares each expression with all others to find equal ones. For a CSV file of 1,000 columns this
 * takes three quarters of the planning (6 of 8 s), and planning takes most of the time. So statements with so many
 * named expressions are planned without it.
 */
const MANY_EXPRESSIONS = 200;
const COMMON_EXPRESSIONS_OFF = "SET GLOBAL disabled_optimizers = 'common_subexpressions'";
const COMMON_EXPRESSIONS_ON = "RESET GLOBAL disabled_optimizers";

function hasManyExpressions(sql: string): boolean {
  return namedColumns(sql, MANY_EXPRESSIONS + 1) > MANY_EXPRESSIONS;
}

/** A C call that can be made on this thread or on another one. */
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

/** How many threads a kernel has at present; the number may change between statements. */
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
  #followsProgress = false;
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

  /** Whether the statement selects from a table with nulls of no type. */
  get readsUntypedNulls(): boolean {
    if (!this.uses.some((use) => use.table.hasUntypedNulls)) return false;
    return duckdb().statementType(this.#cells.get(STATEMENT)) === SELECT_STATEMENT;
  }

  /**
   * Whether the statement calls back through the event loop. Then this thread must not block while it waits for the
   * statement.
   */
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

  /** Runs any SQL, also several statements, and drops the result. */
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

  /** Prepares and starts a statement. Its chunks are fetched with `result`. The caller ends it. */
  *open(sql: string): Steps<Schema> {
    const api = duckdb();
    this.#keepReady(this.threads === 1 ? READY_AT_ONE_THREAD : READY_AT_SEVERAL);
    if (!this.#followsProgress) this.#set(FOLLOW_PROGRESS);
    this.#followsProgress = true;
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

  /** The running result, in the form that `duckdb_fetch_chunk` takes. */
  result(): ResultStruct {
    const cell = (index: number) => this.#cells.get(index);
    return { a: cell(0), b: cell(1), c: cell(2), d: cell(3), e: cell(4), f: cell(5) };
  }

  /** Throws if the result ended because of an error. */
  checkEnd(): void {
    const message = duckdb().resultError(this.#cells.address);
    if (message !== null && message !== "") throw this.#error(message);
  }

  /** Forgets a statement that has run to its end, failed, or never started. */
  end(): void {
    this.#destroy();
    for (const use of this.uses.splice(0)) use.end();
  }

  /**
   * Ends a statement before its end. DuckDB keeps its pipelines, which contain pointers into tables, until the
   * connection runs its next statement: so this runs one.
   */
  *abandon(): Steps<void> {
    const api = duckdb();
    if (this.needsEventLoop) api.interrupt(this.handle);
    this.#destroy();
    yield call(api.prepare, this.handle, "SELECT 1", this.#cells.at(STATEMENT));
    this.end();
  }

  /**
   * DuckDB ignores an interrupt just before a statement begins, so the interrupt is repeated until the call returns.
   */
  interrupt(): void {
    this.#interrupted = true;
    duckdb().interrupt(this.handle);
    if (this.#waiting === 0 || this.#repeating !== null) return;
    this.#repeating = setInterval(() => duckdb().interrupt(this.handle), REPEAT_MILLISECONDS);
  }

  /** Notices an interrupt that came between two calls of a statement. */
  checkInterrupted(): void {
    if (this.#interrupted) throw new KernelError("INTERRUPT Error: Interrupted!", "Interrupt", this.#sql);
  }

  /** The part of its running statement that is done, from 0 to 1; null: not known. May be asked while a call waits. */
  get progress(): number | null {
    if (!this.#hasStatement) return null;
    const { percentage } = duckdb().queryProgress(this.handle);
    return percentage < 0 ? null : Math.min(1, percentage / 100);
  }

  get #hasStatement(): boolean {
    return this.#cells.get(STATEMENT) !== 0;
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

  /**
   * Runs on this thread and at once. It is not part of the statement: an interrupt in the middle of it would be
   * forgotten.
   */
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
    if ((yield* this.#planned(sql, prepare)) === 0) return;
    if (TOP_ROWS_FAILED.test(api.prepareError(this.#cells.get(STATEMENT)) ?? "")) {
      this.checkInterrupted();
      this.end();
      if (this.#withoutTopRows(prepare) === 0) return;
    }
    throw this.#error(api.prepareError(this.#cells.get(STATEMENT)));
  }

  /** Other channels may plan meanwhile: without the rule, too, and with the same results. */
  *#planned(sql: string, prepare: Call): Steps<number> {
    if (!hasManyExpressions(sql)) return yield prepare;
    this.#set(COMMON_EXPRESSIONS_OFF);
    try {
      return yield prepare;
    } finally {
      this.#set(COMMON_EXPRESSIONS_ON);
    }
  }

  /**
   * Runs in one turn of the event loop, because the setting applies to the whole database: another channel would reset
   * it in between.
   */
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

/** Renames columns on the way, because a result may use a name twice. */
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
