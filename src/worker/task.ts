/**
 * One task from its input to its report. The input is SQL over files, Arrow files, or blocks of the store; the
 * first SQL step reads it directly, and what the kernel can do alone (a copy from files to files, a count) it does
 * without rows coming to JavaScript at all.
 */
import { closeSync, fstatSync, openSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  concatBatches,
  type RecordBatch,
  readArrowBytes,
  readBlock,
  schemaEquals,
  sliceBatch,
} from "../arrow/index.ts";
import { CancelledError, SourceError } from "../errors/index.ts";
import type { Connection, KernelStream } from "../kernel/index.ts";
import { ownMemory } from "../memory/index.ts";
import { mapFile, type NativeMemory } from "../native/index.ts";
import type { Step, TaskInput, TaskOrder, TaskReport, WrittenFile } from "../protocol/index.ts";
import { buildChain, type Chain, filePrefix } from "./chain.ts";
import { inUserWords } from "./kernel-errors.ts";
import type { LoadedOperator } from "./loaded-operator.ts";
import type { BlockOutlet } from "./sinks/block-sink.ts";
import { copyQuery, kernelWrites } from "./sinks/copy.ts";
import { countSql } from "./sinks/count-sink.ts";
import type { TaskScope } from "./stage.ts";
import { overInput } from "./steps/sql-step.ts";

/** How long a task may keep the event loop (and with it a cancel) waiting between two batches. */
const TURN_MS = 20;
/** Rows of a block given to a function at a time; small enough to come back to the event loop in between. */
const PIECE_ROWS = 8192;

interface Outcome {
  readonly rows: number;
  readonly bytes: number;
  readonly files: readonly WrittenFile[];
}

export class RunningTask implements TaskScope {
  readonly files: readonly string[];
  #cancelled = false;
  #errored = 0;
  #rowsIn = 0;
  #turnStarted = performance.now();
  readonly #mapped: NativeMemory[] = [];

  constructor(
    private readonly task: TaskOrder,
    private readonly operator: LoadedOperator,
    private readonly connection: Connection,
    private readonly outlet: BlockOutlet,
  ) {
    this.files = "files" in task.input ? task.input.files : [];
  }

  cancel(): void {
    this.#cancelled = true;
    this.connection.interrupt();
  }

  check(): void {
    if (this.#cancelled) throw new CancelledError(`${this.operator.order.name} was cancelled.`);
  }

  errored(rows: number): void {
    this.#errored += rows;
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
      };
    } catch (error) {
      this.check();
      throw inUserWords(error, this.operator.order.name, this.files);
    } finally {
      for (const memory of this.#mapped) memory.unmap();
    }
  }

  #outcome(): Promise<Outcome> {
    const { input } = this.task;
    const [first, ...rest] = this.operator.order.steps;
    if (input.kind === "sql") {
      const sql = first?.kind === "sql" ? overInput(first.sql, input.sql) : `SELECT * FROM ${input.sql}`;
      return this.#fromSql(sql, first?.kind === "sql" ? rest : this.operator.order.steps, "async");
    }
    if (input.kind === "fed") throw new Error("fed tasks");
    const batches = this.#batches(input);
    if (first?.kind !== "sql") return this.#fromBatches(batches);
    return this.#overTable(first.sql, rest, batches);
  }

  async #overTable(sql: string, rest: readonly Step[], batches: readonly RecordBatch[]): Promise<Outcome> {
    const table = this.connection.table(ofOneSchema(batches));
    try {
      return await this.#fromSql(overInput(sql, table.sql), rest, "sync");
    } finally {
      table.release();
    }
  }

  /** `mode`: whether the kernel may run apart from this thread, which it may where no table calls back into it. */
  async #fromSql(sql: string, rest: readonly Step[], mode: "sync" | "async"): Promise<Outcome> {
    const { sink } = this.operator.order;
    const alone = rest.length === 0 && this.operator.order.maxRowsPerTask === null;
    if (alone && sink.kind === "files" && kernelWrites(sink)) {
      const { rows, files } = await copyQuery(this.connection, sql, sink, `${filePrefix(this.task)}-000`, mode);
      return { rows, bytes: files.reduce((sum, file) => sum + file.bytes, 0), files };
    }
    const query = rest.length === 0 && sink.kind === "count" ? countSql(sql) : sql;
    const chain = await this.#chain(rest, "query");
    return this.#through(chain, async () => {
      const stream = mode === "async" ? await this.connection.queryAsync(query) : this.connection.query(query);
      try {
        await this.#pump(stream, chain);
      } finally {
        stream.close();
      }
    });
  }

  async #fromBatches(batches: readonly RecordBatch[]): Promise<Outcome> {
    const chain = await this.#chain(this.operator.order.steps, "blocks");
    return this.#through(chain, async () => {
      for (const batch of batches) {
        for (let start = 0; start < batch.length && !chain.satisfied; start += PIECE_ROWS) {
          const piece = sliceBatch(batch, start, Math.min(batch.length, start + PIECE_ROWS));
          this.#rowsIn += piece.length;
          const wait = chain.first.push(piece);
          if (wait !== undefined) await wait;
          await this.#turn();
        }
      }
    });
  }

  #chain(steps: readonly Step[], fedBy: "query" | "blocks"): Promise<Chain> {
    return buildChain(this.task, this.operator, steps, this.connection, this.outlet, this, fedBy);
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

  async #pump(stream: KernelStream, chain: Chain): Promise<void> {
    for (let batch = stream.next(); batch !== null && !chain.satisfied; batch = stream.next()) {
      this.#rowsIn += batch.length;
      const wait = chain.first.push(batch);
      if (wait !== undefined) await wait;
      if (performance.now() - this.#turnStarted > TURN_MS) await this.#turn();
    }
  }

  async #turn(): Promise<void> {
    if (performance.now() - this.#turnStarted > TURN_MS) {
      await nextTurn();
      this.#turnStarted = performance.now();
    }
    this.check();
  }

  #batches(input: Exclude<TaskInput, { kind: "sql" | "fed" }>): readonly RecordBatch[] {
    if (input.kind === "arrow") return input.files.flatMap((file) => this.#readArrowFile(file));
    return input.slices.map(({ range, start, end }) => {
      const batch = readBlock(this.outlet.arena.view(range));
      return start === 0 && end === batch.length ? batch : sliceBatch(batch, start, end);
    });
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
        return readArrowBytes(memory.view(0, size)).batches;
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      throw new SourceError(
        `readArrow: ${path} could not be read: ${error instanceof Error ? error.message : error}`,
        path,
      );
    }
  }
}

/**
 * Blocks of several tasks may name their columns in another order, or know a type that others saw only nulls of. As a
 * table they need one schema: where they have it nothing is copied, else they are put together; what has none is an error.
 */
function ofOneSchema(batches: readonly RecordBatch[]): readonly RecordBatch[] {
  const [first] = batches;
  if (first === undefined || batches.every(({ schema }) => schemaEquals(schema, first.schema))) return batches;
  return [concatBatches(batches)];
}
