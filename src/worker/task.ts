/**
 * One task from its input to its report. The input is SQL over files, Arrow files, blocks of the store, or blocks that
 * come while it runs. The first SQL step reads it directly. What the kernel can do alone (a copy from files to files, a
 * count) runs without bringing rows to JavaScript.
 */
import { assertOwnColumns, type RecordBatch, type Schema, sliceBatch, typeFamily } from "../arrow/index.ts";
import { type KernelStream, NO_COLUMN, StoredTable } from "../kernel/index.ts";
import type { OwnPeak } from "../memory/index.ts";
import {
  type Bytes,
  CONTENTS,
  type FileContents,
  fillPlaceholders,
  INPUT,
  numberedTables,
  type SqlStep,
  type Step,
  type TaskInput,
  type TaskOrder,
  type TaskReport,
  type ToldProgress,
  type WrittenFile,
} from "../protocol/index.ts";
import { badTextError } from "./bad-text.ts";
import { GatherLink } from "./cargo/gather-link.ts";
import { buildChain, type Chain, filePrefix } from "./chain.ts";
import { FedTables } from "./fed-tables.ts";
import { type FedBlocks, Feed } from "./feed.ts";
import { readContents } from "./file-contents.ts";
import { inUserWords, namingColumns, refuseInTests } from "./kernel-errors.ts";
import { KernelWatch } from "./kernel-watch.ts";
import type { KernelUsage, LeasedKernel } from "./leased-kernel.ts";
import type { Link, TaskScope } from "./link.ts";
import type { LoadedOperator } from "./loaded-operator.ts";
import { misfitError } from "./misfit.ts";
import { withColumns } from "./named-columns.ts";
import { ofOneSchema } from "./one-schema.ts";
import { outgoing } from "./outgoing.ts";
import { readSlice } from "./read-slice.ts";
import type { BlockOutlet } from "./sinks/block-sink.ts";
import { copyQuery, kernelWrites, rowGroupFor } from "./sinks/copy.ts";
import { countSql } from "./sinks/count-sink.ts";
import { TaskFiles } from "./task-files.ts";
import { TaskTurns } from "./task-turns.ts";
import { UnderWay } from "./under-way.ts";
import { readWide, wideColumns } from "./wide-read.ts";

/**
 * After a fetch that took this long, the next one is awaited on another thread, which costs 0.1 ms: it may take as long
 * again.
 */
const SLOW_FETCH_MS = 2;
/** Rows of a block that are pushed at a time; few enough to return to the event loop in between. */
const PIECE_ROWS = 8192;

/** How a task communicates with the supervisor. */
export interface TaskOutlet extends BlockOutlet {
  /** The oldest unanswered message of a feed has been read. */
  fed(): void;
  kernelUsage(usage: KernelUsage): void;
  /** Its functions have made their first batch: the most memory so far, and the task's part of it. */
  firstBatch(peakMemory: Bytes, addedMemory: Bytes): void;
  /** Most of this worker's memory is free. */
  isMostlyFree(): boolean;
}

/**
 * How the kernel is called. "sync": on this thread, which is necessary if tables in this process's memory call back
 * into it. "async": on another thread. "wide": on another thread, with all threads of the lease.
 */
type Mode = "sync" | "async" | "wide";

/** What must be known about the tables that a query reads. */
type QueriedTables = Pick<FedTables, "hasUntypedNulls"> & Partial<Pick<FedTables, "gatherer">>;
const PLAIN: QueriedTables = { hasUntypedNulls: false };

interface Outcome {
  readonly rows: number;
  readonly bytes: number;
  readonly files: readonly WrittenFile[];
  readonly schema?: Schema | null;
}

export class RunningTask implements TaskScope {
  /** Private memory that the worker had when the task was done. */
  left: Bytes = 0;
  #errored = 0;
  readonly #underWay = new UnderWay();
  readonly #turns: TaskTurns;
  readonly #feed = new Feed();
  #kernelPeak: KernelUsage | null = null;
  #byReference: TaskReport["byReference"] | null = null;
  #broadcast: readonly string[] = [];
  /** How many columns its statements are known to handle; 0: not known. */
  #columns = 0;
  readonly #read: TaskFiles;

  constructor(
    private readonly task: TaskOrder,
    private readonly operator: LoadedOperator,
    private readonly kernel: LeasedKernel,
    private readonly outlet: TaskOutlet,
    private readonly peak: OwnPeak,
  ) {
    this.#read = new TaskFiles(operator.spec.name, task.input);
    this.#turns = new TaskTurns(operator.spec.name);
  }

  get files(): readonly string[] {
    return this.#read.files;
  }

  cancel(): void {
    this.#turns.cancel();
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
    this.#turns.check();
  }

  turn(): void | Promise<void> {
    return this.#turns.take();
  }

  errored(rows: number): void {
    this.#errored += rows;
  }

  /** If a function kept what it made until no memory was left, no single row is to blame. */
  get blamesRows(): boolean {
    return this.task.blamesRows === true && this.outlet.isMostlyFree();
  }

  /** Asked from time to time while it runs. */
  get progress(): ToldProgress {
    return { ...this.#underWay.progress(() => this.kernel.connection.progress), peakMemory: this.peak.look().peak };
  }

  async run(): Promise<TaskReport> {
    const started = performance.now();
    const cpu = process.cpuUsage();
    this.peak.begin();
    try {
      const outcome = await this.#outcome();
      const used = process.cpuUsage(cpu);
      const { peak, added, now } = this.peak.look();
      this.left = now;
      return {
        rowsIn: this.#underWay.rowsIn,
        rowsOut: outcome.rows,
        bytesOut: outcome.bytes,
        wall: performance.now() - started,
        cpu: (used.user + used.system) / 1000,
        peakMemory: peak,
        addedMemory: added,
        errored: this.#errored,
        files: outcome.files,
        ...(outcome.schema ? { written: writtenColumns(outcome.schema) } : {}),
        ...(this.#kernelPeak === null ? {} : { kernel: this.#kernelPeak }),
        ...(this.#byReference == null ? {} : { byReference: this.#byReference }),
      };
    } catch (error) {
      this.check();
      const told = await this.#read.inFileWords(error, this.kernel.connection, () => this.check());
      const found = (await misfitError(told)) ?? (await badTextError(told));
      throw found ?? inUserWords(told, this.operator.spec.name, this.files, this.kernel);
    } finally {
      this.#read.close();
      await this.kernel.countVectors(0);
    }
  }

  async #outcome(): Promise<Outcome> {
    const { input } = this.task;
    this.#broadcast = await this.operator.broadcast(this.kernel.connection, this.task.broadcast);
    const [first, ...rest] = this.operator.spec.steps;
    if (input.kind === "sql") {
      if (input.contents !== undefined) return this.#overContents(input.sql, input.contents);
      // A task that stops after some rows would otherwise have all rows checked first.
      const readsAll = this.operator.spec.maxRowsPerTask === null;
      const source = await this.#read.table(input, readsAll, () => this.turn());
      const wide =
        readsAll && this.operator.spec.sink.kind !== "count" ? wideColumns(input, this.operator.spec.steps) : 0;
      return wide > 0 ? this.#overWide(source, wide) : this.#overSource(source, "async");
    }
    if (input.kind === "fed") {
      return first?.kind === "sql" ? this.#overFed(first, rest, input) : this.#fromFed();
    }
    const batches = this.#batches(input);
    await this.#expect(batches[0]?.schema.fields.length ?? 0);
    if (first?.kind !== "sql") return this.#fromBatches(batches);
    return this.#overTable(first, rest, batches);
  }

  /** `source` is SQL in the place of a table name. */
  #overSource(source: string, mode: Mode): Promise<Outcome> {
    const { steps } = this.operator.spec;
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

  /** From now on the statements are of so many columns, over tables in this process's memory. */
  #expect(columns: number): Promise<void> {
    this.#columns = columns;
    return this.kernel.countVectors(columns);
  }

  /** The rows are held in memory, so that the statements over them can take a few at a time. */
  async #overWide(source: string, columns: number): Promise<Outcome> {
    const { connection } = this.kernel;
    const batch = await readWide(connection, source, () => this.turn());
    await this.#expect(columns);
    // What the reading took (100 MB of 5,000 columns) is needed for the statements now.
    await this.kernel.giveBack();
    const { steps, sink } = this.operator.spec;
    // Without any step, the kernel can write files alone.
    if (steps[0]?.kind !== "sql" && (steps.length > 0 || sink.kind !== "files")) return this.#fromBatches([batch]);
    const table = connection.table([batch], batch.schema, columns);
    try {
      return await this.#overSource(table.sql, "sync");
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

  /**
   * If a function returned whole numbers in some batches and fractions in others, a table of the kernel finds a type
   * for both.
   */
  async #overStored(step: SqlStep, rest: readonly Step[], batches: readonly RecordBatch[]): Promise<Outcome> {
    const table = new StoredTable(this.kernel.connection, []);
    try {
      for (const batch of batches) await table.append([batch], () => this.turn());
      return await this.#fromSql(this.#overInput(step, table.sql), rest, "sync", table);
    } finally {
      table.drop();
    }
  }

  #overInput(step: SqlStep, table: string): string {
    return withColumns(this.kernel.connection, step, [[INPUT, table], ...numberedTables("b", this.#broadcast)]);
  }

  async #overFed(
    step: SqlStep,
    rest: readonly Step[],
    { tables: declared, sees = [] }: Extract<TaskInput, { kind: "fed" }>,
  ): Promise<Outcome> {
    const { connection } = this.kernel;
    const tables = new FedTables(this.operator.spec.name, this.kernel, declared, sees, {
      read: (slice) => readSlice(this.outlet.arena, slice),
      fed: () => this.outlet.fed(),
      turn: () => this.turn(),
    });
    this.#underWay.tables = tables;
    const watch = new KernelWatch(this.kernel, (usage) => this.outlet.kernelUsage(usage));
    try {
      await tables.fill(this.#feed);
      this.check();
      this.#underWay.rowsIn = tables.rows;
      const given = [...numberedTables("t", tables.sql), ...numberedTables("b", this.#broadcast)];
      const query = withColumns(connection, step, given);
      const whole = outgoing(connection, query);
      // For no rows from functions, the columns are unknown. SQL can still make rows of its own from that, such as a
      // count, but not rows with these columns.
      if (tables.rows === 0 && !whole.hasColumns) return await this.#fromBatches([]);
      return await this.#fromSql(whole.sql, rest, "wide", tables);
    } catch (error) {
      throw this.#namingColumns(error, tables.sql);
    } finally {
      this.#kernelPeak = await watch.end();
      this.#byReference = tables.byReference;
      await tables.drop();
    }
  }

  #namingColumns(error: unknown, tables: readonly string[]): unknown {
    const { connection } = this.kernel;
    const columnsOf = (table: string) => connection.describe(`SELECT * FROM ${table}`).fields.map(({ name }) => name);
    return namingColumns(error, this.operator.spec.name, () =>
      [...new Set(tables.flatMap(columnsOf))].filter((name) => name !== NO_COLUMN),
    );
  }

  async #fromSql(sql: string, rest: readonly Step[], mode: Mode, tables: QueriedTables = PLAIN): Promise<Outcome> {
    if (this.operator.spec.otherWay !== undefined) refuseInTests(this.operator.spec.name, this.kernel.lease);
    const run = () => this.#run(sql, rest, mode, tables);
    return mode === "wide" ? this.kernel.wide(this.operator.spec.setsOrder, run) : run();
  }

  async #run(sql: string, rest: readonly Step[], mode: Mode, tables: QueriedTables): Promise<Outcome> {
    const { connection } = this.kernel;
    const { hasUntypedNulls: untypedNulls } = tables;
    const { sink } = this.operator.spec;
    const alone = rest.length === 0 && this.operator.spec.maxRowsPerTask === null;
    const refers = tables.gatherer !== undefined && tables.gatherer(connection.describe(sql)) !== null;
    if (alone && !refers && sink.kind === "files" && kernelWrites(sink)) {
      const { rows, files } = await copyQuery(
        connection,
        sql,
        sink,
        `${filePrefix(this.task)}-000`,
        mode === "sync" ? "sync" : "async",
        rowGroupFor(this.kernel.lease, this.#columns),
        (file) => {
          this.#underWay.file = file;
        },
      );
      await this.#read.check();
      return { rows, bytes: files.reduce((sum, file) => sum + file.bytes, 0), files };
    }
    const query = rest.length === 0 && sink.kind === "count" ? countSql(sql) : sql;
    const chain = await this.#chain(rest, "query");
    return this.#through(chain, async () => {
      const stream = mode === "sync" ? connection.query(query) : await connection.queryAsync(query, { untypedNulls });
      try {
        assertOwnColumns(this.operator.spec.name, stream.schema);
        const gatherer = tables.gatherer?.(stream.schema) ?? null;
        const first = gatherer === null ? chain.first : new GatherLink(gatherer, chain.first, () => this.turn());
        const isThrough = await this.#pump(stream, first, mode);
        if (isThrough) await this.#read.checkPacked();
      } finally {
        stream.close();
      }
      await this.#read.checkStream();
    });
  }

  async #fromBatches(batches: readonly RecordBatch[]): Promise<Outcome> {
    const chain = await this.#chain(this.operator.spec.steps, "blocks");
    this.#underWay.rows = batches.reduce((sum, { length }) => sum + length, 0);
    return this.#through(chain, async () => {
      for (const batch of batches) await this.#pushBatch(batch, chain);
    });
  }

  async #fromFed(): Promise<Outcome> {
    const chain = await this.#chain(this.operator.spec.steps, "blocks");
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
      this.#underWay.rowsIn += piece.length;
      const wait = chain.first.push(piece);
      if (wait !== undefined) await wait;
      await this.turn();
    }
  }

  #chain(steps: readonly Step[], fedBy: "query" | "blocks"): Promise<Chain> {
    const { connection } = this.kernel;
    const readsTables = steps.some(({ kind }) => kind === "sql") || this.operator.spec.sink.kind === "files";
    const beside = readsTables ? this.kernel.side : connection;
    return buildChain(this.task, this.operator, steps, beside, this.outlet, this, this.#broadcast, fedBy, () =>
      this.#handedOn(),
    );
  }

  #handedOn(): void {
    const { peak, added } = this.peak.look();
    this.outlet.firstBatch(peak, added);
  }

  /** Feeds the chain, ends it, and closes it whatever happens. */
  async #through(chain: Chain, feed: () => Promise<void>): Promise<Outcome> {
    this.#underWay.chain = chain;
    try {
      await feed();
      this.check();
      await chain.first.end();
      // A repair makes a part of the rows again: its dropped rows are not all that the task dropped.
      if (this.task.repair === undefined) for (const letters of chain.letters) letters.commit();
      return chain.sink;
    } finally {
      chain.first.close();
      for (const letters of chain.letters) letters.close();
    }
  }

  /** True if the query was read to its end; false if only the wanted rows were. */
  async #pump(stream: KernelStream, first: Link, mode: Mode): Promise<boolean> {
    let took = 0;
    while (first.wanted > 0) {
      const started = performance.now();
      const batch = mode !== "sync" && took > SLOW_FETCH_MS ? await stream.nextAsync() : stream.next();
      if (batch === null) return true;
      took = performance.now() - started;
      if (mode !== "wide") this.#underWay.rowsIn += batch.length;
      const wait = first.push(batch);
      if (wait !== undefined) await wait;
      const turn = this.turn();
      if (turn !== undefined) await turn;
    }
    return false;
  }

  #batches(input: Exclude<TaskInput, { kind: "sql" | "fed" }>): readonly RecordBatch[] {
    if (input.kind === "arrow") return input.files.flatMap((file) => this.#read.arrow(file));
    return input.slices.map((slice) => readSlice(this.outlet.arena, slice));
  }
}

function writtenColumns({ fields }: Schema): NonNullable<TaskReport["written"]> {
  return { names: fields.map(({ name }) => name), types: fields.map(({ type }) => typeFamily(type)) };
}
