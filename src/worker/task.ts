/**
 * One task from its input to its report. The input is SQL over files, Arrow files, blocks of the store, or blocks that
 * come while it runs; the first SQL step reads it directly, and what the kernel can do alone (a copy from files to
 * files, a count) it does without rows coming to JavaScript at all.
 */
import { closeSync, fstatSync, openSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  assertOwnColumns,
  concatBatches,
  emptyBatch,
  type RecordBatch,
  readArrowBytes,
  type Schema,
  schemaEquals,
  sliceBatch,
  typeFamily,
} from "../arrow/index.ts";
import { CancelledError, KernelError, RowShapeError, SourceError } from "../errors/index.ts";
import { type KernelStream, NO_COLUMN, StoredTable } from "../kernel/index.ts";
import { ownMemory } from "../memory/index.ts";
import { mapFile, type NativeMemory } from "../native/index.ts";
import {
  CONTENTS,
  type FileContents,
  type FilesRead,
  fillPlaceholders,
  INPUT,
  numberedTables,
  type SqlStep,
  STREAM_PATH,
  type Step,
  type TaskInput,
  type TaskOrder,
  type TaskReport,
  type WrittenFile,
} from "../protocol/index.ts";
import { messageOf } from "../realm/index.ts";
import { badTextError } from "./bad-text.ts";
import { buildChain, type Chain, filePrefix } from "./chain.ts";
import { isProved } from "./csv-proof.ts";
import { FedTables } from "./fed-tables.ts";
import { type FedBlocks, Feed } from "./feed.ts";
import { readContents } from "./file-contents.ts";
import { inUserWords, namingColumns } from "./kernel-errors.ts";
import { KernelWatch } from "./kernel-watch.ts";
import type { KernelUsage, LeasedKernel } from "./leased-kernel.ts";
import type { LoadedOperator } from "./loaded-operator.ts";
import { misfitError } from "./misfit.ts";
import { withColumns } from "./named-columns.ts";
import { outgoing } from "./outgoing.ts";
import { PackedFiles } from "./packed-files.ts";
import { readSlice } from "./read-slice.ts";
import type { BlockOutlet } from "./sinks/block-sink.ts";
import { copyQuery, kernelWrites, rowGroupFor } from "./sinks/copy.ts";
import { countSql } from "./sinks/count-sink.ts";
import type { TaskScope } from "./stage.ts";
import { OpenStream } from "./streams/open-stream.ts";

/** How long a task may keep the event loop (and with it a cancel) waiting between two batches. */
const TURN_MS = 20;
/** A fetch that took so long may take as long again: it is waited for elsewhere, which costs 0.1 ms. */
const SLOW_FETCH_MS = 2;
/** Rows of a block given to a function at a time; small enough to come back to the event loop in between. */
const PIECE_ROWS = 8192;

/** How a task speaks to the supervisor. */
export interface TaskOutlet extends BlockOutlet {
  /** The oldest message of a feed that was not answered has been read. */
  fed(): void;
  kernelUsage(usage: KernelUsage): void;
  /** Most of what this worker may have is free. */
  isMostlyFree(): boolean;
}

/**
 * How the kernel is called. "sync": on this thread, as it must be where tables of this process's memory call back into
 * it; "async": elsewhere; "wide": elsewhere, with all the threads that it may have.
 */
type Mode = "sync" | "async" | "wide";

interface Outcome {
  readonly rows: number;
  readonly bytes: number;
  readonly files: readonly WrittenFile[];
  readonly schema?: Schema | null;
}

export class RunningTask implements TaskScope {
  readonly files: readonly string[];
  #cancelled = false;
  #errored = 0;
  #rowsIn = 0;
  #turnStarted = performance.now();
  readonly #mapped: NativeMemory[] = [];
  readonly #feed = new Feed();
  #peak: KernelUsage | null = null;
  #broadcast: readonly string[] = [];
  /** What its SQL reads from pipes. */
  #stream: OpenStream | null = null;
  /** What its SQL reads and unpacks by itself. */
  readonly #packed: PackedFiles | null;

  constructor(
    private readonly task: TaskOrder,
    private readonly operator: LoadedOperator,
    private readonly kernel: LeasedKernel,
    private readonly outlet: TaskOutlet,
  ) {
    const { files, packed = [] } = filesOf(task.input);
    this.files = files;
    this.#packed = packed.length === 0 ? null : new PackedFiles(operator.order.name, packed);
  }

  cancel(): void {
    this.#cancelled = true;
    this.kernel.interrupt();
    this.#feed.end();
  }

  feed(blocks: FedBlocks): void {
    this.#feed.push(blocks);
  }

  feedEnd(): void {
    this.#feed.end();
  }

  check(): void {
    if (this.#cancelled) throw new CancelledError(`${this.operator.order.name} was cancelled.`);
  }

  turn(): void | Promise<void> {
    if (performance.now() - this.#turnStarted > TURN_MS) return this.#takeTurn();
    this.check();
  }

  errored(rows: number): void {
    this.#errored += rows;
  }

  /** Of a function that has kept what it made until nothing was left, no row is to blame. */
  get blamesRows(): boolean {
    return this.task.blamesRows === true && this.outlet.isMostlyFree();
  }

  async run(): Promise<TaskReport> {
    const started = performance.now();
    const cpu = process.cpuUsage();
    try {
      const outcome = await this.#outcome();
      const used = process.cpuUsage(cpu);
      return {
        rowsIn: this.#rowsIn,
        rowsOut: outcome.rows,
        bytesOut: outcome.bytes,
        wall: performance.now() - started,
        cpu: (used.user + used.system) / 1000,
        peakMemory: ownMemory(),
        errored: this.#errored,
        files: outcome.files,
        ...(outcome.schema ? { written: writtenColumns(outcome.schema) } : {}),
        ...(this.#peak === null ? {} : { kernel: this.#peak }),
      };
    } catch (error) {
      this.check();
      // What ended a stream before its time is why the kernel could not go on.
      await this.#stream?.check();
      // So is what lacks the rest of a row.
      if (error instanceof KernelError) await this.#packed?.check();
      const told = (await this.#stream?.inFileWords(error)) ?? error;
      const found = (await misfitError(told)) ?? (await badTextError(told));
      throw found ?? inUserWords(told, this.operator.order.name, this.files, this.kernel);
    } finally {
      this.#stream?.close();
      this.#packed?.close();
      for (const memory of this.#mapped) memory.unmap();
    }
  }

  async #outcome(): Promise<Outcome> {
    const { input } = this.task;
    this.#broadcast = await this.operator.broadcast(this.kernel.connection, this.task.broadcast);
    const [first, ...rest] = this.operator.order.steps;
    if (input.kind === "sql") {
      if (input.contents !== undefined) return this.#overContents(input.sql, input.contents);
      return this.#overSource(await this.#overFiles(input), "async");
    }
    if (input.kind === "fed") {
      return first?.kind === "sql" ? this.#overFed(first, rest, input.tables) : this.#fromFed();
    }
    const batches = this.#batches(input);
    if (first?.kind !== "sql") return this.#fromBatches(batches);
    return this.#overTable(first, rest, batches);
  }

  /** `source` stands where a table stands. */
  #overSource(source: string, mode: Mode): Promise<Outcome> {
    const { steps } = this.operator.order;
    const [first, ...rest] = steps;
    if (first?.kind === "sql") return this.#fromSql(this.#overInput(first, source), rest, mode);
    return this.#fromSql(`SELECT * FROM ${source}`, steps, mode);
  }

  async #overContents(sql: string, kind: FileContents): Promise<Outcome> {
    const batch = await readContents(this.files, kind, () => this.turn());
    const table = this.kernel.connection.table([batch]);
    try {
      return await this.#overSource(fillPlaceholders(sql, new Map([[CONTENTS, table.sql]])), "sync");
    } finally {
      table.release();
    }
  }

  async #overTable(step: SqlStep, rest: readonly Step[], batches: readonly RecordBatch[]): Promise<Outcome> {
    const one = ofOneSchema(batches);
    if (one === null) return this.#overStored(step, rest, batches);
    const table = this.kernel.connection.table(one);
    try {
      return await this.#fromSql(this.#overInput(step, table.sql), rest, "sync");
    } catch (error) {
      throw this.#namingColumns(error, [table.sql]);
    } finally {
      table.release();
    }
  }

  /** A function returned whole numbers here and fractions there: in a table of the kernel both find a type. */
  async #overStored(step: SqlStep, rest: readonly Step[], batches: readonly RecordBatch[]): Promise<Outcome> {
    const table = new StoredTable(this.kernel.connection, []);
    try {
      for (const batch of batches) await table.append([batch], () => this.turn());
      return await this.#fromSql(this.#overInput(step, table.sql), rest, "sync", table.hasUntypedNulls);
    } finally {
      table.drop();
    }
  }

  async #overFiles({ sql, stream, proof }: Extract<TaskInput, { kind: "sql" }>): Promise<string> {
    // A task that is done after some rows would look at all of them.
    const isProvable = proof !== undefined && this.operator.order.maxRowsPerTask === null;
    const table = isProvable && (await isProved(proof, () => this.turn())) ? proof.sql : sql;
    if (stream === undefined) return table;
    this.#stream = new OpenStream(stream);
    return fillPlaceholders(table, new Map([[STREAM_PATH, this.#stream.sql]]));
  }

  #overInput(step: SqlStep, table: string): string {
    return withColumns(this.kernel.connection, step, [[INPUT, table], ...numberedTables("b", this.#broadcast)]);
  }

  async #overFed(
    step: SqlStep,
    rest: readonly Step[],
    columns: Extract<TaskInput, { kind: "fed" }>["tables"],
  ): Promise<Outcome> {
    const { connection } = this.kernel;
    const tables = new FedTables(connection, columns, {
      read: (slice) => readSlice(this.outlet.arena, slice),
      fed: () => this.outlet.fed(),
      turn: () => this.turn(),
    });
    const watch = new KernelWatch(this.kernel, (usage) => this.outlet.kernelUsage(usage));
    try {
      await tables.fill(this.#feed);
      this.check();
      this.#rowsIn = tables.rows;
      const given = [...numberedTables("t", tables.sql), ...numberedTables("b", this.#broadcast)];
      const query = withColumns(connection, step, given);
      const whole = outgoing(connection, query);
      // Of no rows from functions, whose columns nobody knows, SQL can make rows of its own, such as a count; but not
      // these.
      if (tables.rows === 0 && !whole.hasColumns) return await this.#fromBatches([]);
      return await this.#fromSql(whole.sql, rest, "wide", tables.hasUntypedNulls);
    } catch (error) {
      throw this.#namingColumns(error, tables.sql);
    } finally {
      this.#peak = await watch.end();
      tables.drop();
    }
  }

  #namingColumns(error: unknown, tables: readonly string[]): unknown {
    const { connection } = this.kernel;
    const columnsOf = (table: string) => connection.describe(`SELECT * FROM ${table}`).fields.map(({ name }) => name);
    return namingColumns(error, this.operator.order.name, () =>
      [...new Set(tables.flatMap(columnsOf))].filter((name) => name !== NO_COLUMN),
    );
  }

  async #fromSql(sql: string, rest: readonly Step[], mode: Mode, untypedNulls = false): Promise<Outcome> {
    const run = () => this.#run(sql, rest, mode, untypedNulls);
    return mode === "wide" ? this.kernel.wide(this.operator.order.setsOrder, run) : run();
  }

  async #run(sql: string, rest: readonly Step[], mode: Mode, untypedNulls: boolean): Promise<Outcome> {
    const { connection } = this.kernel;
    const { sink } = this.operator.order;
    const alone = rest.length === 0 && this.operator.order.maxRowsPerTask === null;
    if (alone && sink.kind === "files" && kernelWrites(sink)) {
      const { rows, files } = await copyQuery(
        connection,
        sql,
        sink,
        `${filePrefix(this.task)}-000`,
        mode === "sync" ? "sync" : "async",
        rowGroupFor(this.kernel.lease),
      );
      await this.#stream?.check();
      await this.#packed?.check();
      return { rows, bytes: files.reduce((sum, file) => sum + file.bytes, 0), files };
    }
    const query = rest.length === 0 && sink.kind === "count" ? countSql(sql) : sql;
    const chain = await this.#chain(rest, "query");
    return this.#through(chain, async () => {
      const stream = mode === "sync" ? connection.query(query) : await connection.queryAsync(query, { untypedNulls });
      try {
        assertOwnColumns(this.operator.order.name, stream.schema);
        const isThrough = await this.#pump(stream, chain, mode);
        if (isThrough) await this.#packed?.check();
      } finally {
        stream.close();
      }
      await this.#stream?.check();
    });
  }

  async #fromBatches(batches: readonly RecordBatch[]): Promise<Outcome> {
    const chain = await this.#chain(this.operator.order.steps, "blocks");
    return this.#through(chain, async () => {
      for (const batch of batches) await this.#pushBatch(batch, chain);
    });
  }

  async #fromFed(): Promise<Outcome> {
    const chain = await this.#chain(this.operator.order.steps, "blocks");
    return this.#through(chain, async () => {
      for (let came = await this.#feed.next(); came !== null; came = await this.#feed.next()) {
        for (const { slices } of came) {
          for (const slice of slices) await this.#pushBatch(readSlice(this.outlet.arena, slice), chain);
          this.check();
          this.outlet.fed();
        }
      }
    });
  }

  async #pushBatch(batch: RecordBatch, chain: Chain): Promise<void> {
    for (let start = 0; start < batch.length && chain.first.wanted > 0; start += PIECE_ROWS) {
      const piece = sliceBatch(batch, start, Math.min(batch.length, start + PIECE_ROWS));
      this.#rowsIn += piece.length;
      const wait = chain.first.push(piece);
      if (wait !== undefined) await wait;
      await this.turn();
    }
  }

  #chain(steps: readonly Step[], fedBy: "query" | "blocks"): Promise<Chain> {
    const { connection } = this.kernel;
    const readsTables = steps.some(({ kind }) => kind === "sql") || this.operator.order.sink.kind === "files";
    const beside = readsTables ? this.kernel.side : connection;
    return buildChain(this.task, this.operator, steps, beside, this.outlet, this, this.#broadcast, fedBy);
  }

  /** Feeds the chain, ends it, and closes it whatever happens. */
  async #through(chain: Chain, feed: () => Promise<void>): Promise<Outcome> {
    try {
      await feed();
      this.check();
      await chain.first.end();
      // What a repair dropped is only a part of what its task did.
      if (this.task.repair === undefined) for (const letters of chain.letters) letters.commit();
      return chain.sink;
    } finally {
      chain.first.close();
      for (const letters of chain.letters) letters.close();
    }
  }

  /** Whether all there is has come, and not only what was wanted. */
  async #pump(stream: KernelStream, chain: Chain, mode: Mode): Promise<boolean> {
    let took = 0;
    while (chain.first.wanted > 0) {
      const started = performance.now();
      const batch = mode !== "sync" && took > SLOW_FETCH_MS ? await stream.nextAsync() : stream.next();
      if (batch === null) return true;
      took = performance.now() - started;
      if (mode !== "wide") this.#rowsIn += batch.length;
      const wait = chain.first.push(batch);
      if (wait !== undefined) await wait;
      const turn = this.turn();
      if (turn !== undefined) await turn;
    }
    return false;
  }

  async #takeTurn(): Promise<void> {
    await nextTurn();
    this.#turnStarted = performance.now();
    this.check();
  }

  #batches(input: Exclude<TaskInput, { kind: "sql" | "fed" }>): readonly RecordBatch[] {
    if (input.kind === "arrow") return input.files.flatMap((file) => this.#readArrowFile(file));
    return input.slices.map((slice) => readSlice(this.outlet.arena, slice));
  }

  /** Mapped, not read: a record batch is only touched when its turn comes. */
  #readArrowFile(path: string): readonly RecordBatch[] {
    try {
      const fd = openSync(path, "r");
      try {
        const { size } = fstatSync(fd);
        if (size === 0) throw new Error("the file is empty");
        const memory = mapFile(fd, size, false);
        this.#mapped.push(memory);
        const { schema, batches } = readArrowBytes(memory.view(0, size));
        // SQL over the file needs its columns, also where it has no batch.
        return batches.length === 0 ? [emptyBatch(schema)] : batches;
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      throw new SourceError(`readArrow: ${path} could not be read: ${messageOf(error)}`, path);
    }
  }
}

function filesOf(input: TaskInput): Pick<FilesRead, "files"> & Partial<FilesRead> {
  if (input.kind === "fed") return input.reads ?? { files: [] };
  return "files" in input ? input : { files: [] };
}

function writtenColumns({ fields }: Schema): NonNullable<TaskReport["written"]> {
  return { names: fields.map(({ name }) => name), types: fields.map(({ type }) => typeFamily(type)) };
}

/**
 * Blocks of several tasks may name their columns in another order, or know a type that others saw only nulls of. As a
 * table they need one schema: where they have it nothing is copied, else they are put together; null where types
 * differ.
 */
function ofOneSchema(batches: readonly RecordBatch[]): readonly RecordBatch[] | null {
  const [first] = batches;
  if (first === undefined || batches.every(({ schema }) => schemaEquals(schema, first.schema))) return batches;
  try {
    return [concatBatches(batches)];
  } catch (error) {
    if (error instanceof RowShapeError) return null;
    throw error;
  }
}
