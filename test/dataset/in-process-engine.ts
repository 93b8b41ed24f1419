/**
 * An engine without processes, for testing what datasets ask of one: blocks are batches in this process's memory, a job
 * runs operator by operator in the real kernel. No scheduling, no store, no streaming.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  blockBytes,
  concatBatches,
  planBlock,
  type RecordBatch,
  readArrowBytes,
  readBlock,
  sliceBatch,
  typeName,
} from "../../src/arrow/index.ts";
import { reviveFunction } from "../../src/closure/index.ts";
import type { Engine, EngineSettings, FinishedJob, ReceivedBlock, RunningJob } from "../../src/dataset/index.ts";
import { type Connection, Kernel, NO_COLUMN } from "../../src/kernel/index.ts";
import {
  type BlockId,
  type BlockRef,
  type BlockSlice,
  type FedTable,
  fillPlaceholders,
  INPUT,
  type InspectedRow,
  type JobId,
  type JobSpec,
  numberedTables,
  type Operator,
  type OperatorStats,
  PARTITION,
  type QuickQuestion,
  type Split,
  STREAM_PATH,
  type Step,
  type TaskOperator,
  type WrittenFile,
} from "../../src/protocol/index.ts";
import { textOf } from "../../src/text/index.ts";
import { isProved } from "../../src/worker/csv-proof.ts";
import { misfitError } from "../../src/worker/misfit.ts";
import { withColumns } from "../../src/worker/named-columns.ts";
import { functionStep } from "./in-process-functions.ts";
import { jobStats, statsOf } from "./in-process-stats.ts";

const settings: EngineSettings = {
  workers: 2,
  resources: { cpu: 2, gpu: 0, memory: 2 ** 30 },
  targetMaxBlockSize: 128 * 2 ** 20,
  targetMinBlockSize: 2 ** 20,
  capacity: 2 ** 30,
  workerLease: { threads: 1, memory: null },
  pool: { memory: 2 ** 32, overhead: 0 },
  targetShuffleMaxBlockSize: 512 * 2 ** 20,
  eager: false,
  preserveOrder: true,
  exchange: false,
  maxErroredBlocks: 0,
  maxRetries: 3,
  maxOomRetries: 0,
  progress: false,
};

export class InProcessEngine implements Engine {
  readonly settings: EngineSettings;
  readonly #appetites = new Map<string, number>();
  readonly appetites = {
    of: (key: string) => this.#appetites.get(key) ?? null,
    keep: (key: string, bytes: number) => void this.#appetites.set(key, bytes),
  };
  readonly kernel = Kernel.open({ threads: 1 });
  readonly connection: Connection = this.kernel.connect();
  readonly inspected: string[] = [];
  readonly jobs: JobSpec[] = [];
  readonly #blocks = new Map<BlockId, RecordBatch | Uint8Array>();
  readonly #held = new Map<BlockId, number>();
  #next = 1;
  #streamed: string | null = null;

  constructor(options: Partial<EngineSettings> = {}) {
    this.settings = { ...settings, ...options };
  }

  /** Blocks that somebody still holds. */
  get live(): number {
    return this.#blocks.size;
  }

  close(): void {
    if (this.#streamed !== null) rmSync(this.#streamed, { recursive: true });
    this.connection.close();
    this.kernel.close();
  }

  checkOpen(): void {}

  async inspect(sql: string, _quick: QuickQuestion | null = null): Promise<readonly InspectedRow[]> {
    this.inspected.push(sql);
    const rows = this.connection.all(sql);
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([k, v]) => [k, typeof v === "bigint" ? String(v) : v])),
    );
  }

  async put(batch: RecordBatch): Promise<BlockRef> {
    return this.#store(readBlock(blockBytes(batch)), batch.length, planBlock(batch).byteLength);
  }

  async putBytes(bytes: Uint8Array): Promise<BlockRef> {
    return this.#store(Uint8Array.from(bytes), 0, bytes.length);
  }

  release(blocks: readonly BlockId[]): void {
    for (const id of blocks) {
      const left = (this.#held.get(id) ?? 0) - 1;
      if (left < 0) throw new Error(`block ${id} was released once too often`);
      this.#held.set(id, left);
      if (left === 0) {
        this.#held.delete(id);
        this.#blocks.delete(id);
      }
    }
  }

  newJobId(): JobId {
    return `job${this.#next++}` as JobId;
  }

  run(job: JobSpec, _options: { readonly wantBlocks: number }): RunningJob {
    this.jobs.push(job);
    for (const id of job.holds) if (!this.#blocks.has(id)) throw new Error(`the job holds block ${id}, which is gone`);
    const result = this.#execute(job).catch(async (error: unknown) => {
      throw (await misfitError(error)) ?? error;
    });
    const finished: Promise<FinishedJob> = result.then(({ stats, rows, files }) => ({ stats, rows, files }));
    finished.catch(() => {});
    const received = (slice: BlockSlice): ReceivedBlock => ({
      slice,
      read: () => sliceBatch(this.#batch(slice.block.id), slice.start, slice.end),
      keep: () => slice,
      room: () => null,
      release: () => this.release([slice.block.id]),
    });
    return {
      finished,
      stop() {},
      cancel: async () => {},
      async *[Symbol.asyncIterator]() {
        const { slices } = await result;
        let at = 0;
        try {
          while (at < slices.length) {
            const slice = slices[at++];
            if (slice !== undefined) yield received(slice);
          }
        } finally {
          for (const slice of slices.slice(at)) received(slice).release();
        }
      },
    };
  }

  #store(value: RecordBatch | Uint8Array, rows: number, length: number): BlockRef {
    const id = this.#next++ as BlockId;
    this.#blocks.set(id, value);
    this.#held.set(id, 1);
    return { id, length, rows };
  }

  #batch(id: BlockId): RecordBatch {
    const value = this.#blocks.get(id);
    if (value === undefined || value instanceof Uint8Array) throw new Error(`block ${id} is no batch, or is gone`);
    return value;
  }

  async #execute(job: JobSpec): Promise<FinishedJob & { slices: readonly BlockSlice[] }> {
    const outputs: Outputs = new Map();
    const stats: OperatorStats[] = [];
    const files: WrittenFile[] = [];
    let rows = 0;
    for (const operator of job.operators) {
      const out = await this.#operator(operator, outputs, files);
      outputs.set(operator.id, out);
      rows = rowsOf(out);
      stats.push(statsOf(operator, rows));
    }
    const last = job.operators.at(-1);
    const keeps = last?.kind === "slice" || last?.sink.kind === "blocks";
    const slices: BlockSlice[] = [];
    for (const batch of keeps ? (outputs.get(last?.id ?? -1) ?? []) : []) {
      if (batch.length > 0) slices.push({ block: await this.put(batch), start: 0, end: batch.length });
    }
    return { stats: jobStats(stats), rows, files, slices };
  }

  async #operator(operator: Operator, outputs: Outputs, files: WrittenFile[]): Promise<Piece[]> {
    if (operator.kind === "slice") {
      return sliced(madeBy(operator.input.operators, outputs), operator.offset, operator.limit);
    }
    const tasks: Task[] = [];
    if (operator.input.kind === "splits") tasks.push(...operator.input.splits);
    else if (operator.input.kind === "fed") tasks.push(...gatherings(operator.input, outputs));
    else tasks.push(...madeBy(operator.input.operators, outputs).map((batch) => [batch]));
    const out: Piece[] = [];
    for (const [index, task] of tasks.entries()) {
      const made = await this.#withTables(
        "b",
        operator.broadcast.map((table) => fedTable(table, outputs)),
        (named) => this.#task(operator, task, named),
      );
      const batches = operator.maxRowsPerTask === null ? made : sliced(made, 0, operator.maxRowsPerTask);
      const scatter = operator.sink.kind === "blocks" ? operator.sink.scatter : undefined;
      out.push(...(scatter === undefined ? batches : this.#scattered(batches, scatter)));
      if (operator.sink.kind === "files") files.push(...this.#write(operator, batches, index));
    }
    return out;
  }

  async #task(operator: TaskOperator, input: Task, named: Tables): Promise<RecordBatch[]> {
    const [first, ...rest] = operator.steps;
    let batches: RecordBatch[];
    let steps: readonly Step[] = operator.steps;
    if ("kind" in input && input.kind === "sql") {
      const table = await this.#overFiles(input);
      const over: Tables = [...named, [INPUT, table]];
      const sql = first?.kind === "sql" ? withColumns(this.connection, first, over) : `SELECT * FROM ${table}`;
      if (first?.kind === "sql") steps = rest;
      batches = [this.#query(sql)];
    } else if ("kind" in input && input.kind === "fed") {
      if (first?.kind === "sql") {
        steps = rest;
        batches = await this.#withTables("t", input.tables, async (fed) => [
          this.#query(this.#withoutHugeint(withColumns(this.connection, first, [...fed, ...named]))),
        ]);
      } else batches = input.tables.flatMap((table) => [...table.batches]);
    } else if ("kind" in input) {
      batches =
        input.kind === "arrow"
          ? input.files.flatMap((file) => readArrowBytes(readFileSync(file)).batches)
          : input.slices.map(({ block, start, end }) => sliceBatch(this.#batch(block.id), start, end));
    } else batches = [...input];
    for (const step of steps) batches = await this.#step(step, batches, named);
    return batches;
  }

  /** What workers read from pipes are files here. */
  async #overFiles({ sql, stream, proof }: Extract<Split, { kind: "sql" }>): Promise<string> {
    const table = proof !== undefined && (await isProved(proof)) ? proof.sql : sql;
    if (stream === undefined) return table;
    this.#streamed ??= mkdtempSync(join(tmpdir(), "spillway-test-streams-"));
    const path = join(this.#streamed, `${this.#next++}.txt`);
    const pieces: Uint8Array[] = [];
    for await (const piece of textOf(stream)) pieces.push(piece);
    writeFileSync(path, Buffer.concat(pieces));
    return fillPlaceholders(table, new Map([[STREAM_PATH, `'${path}'`]]));
  }

  /** Tables `{t0}`, `{t1}`, … (or `{b0}`, …) while `work` goes on: those of blocks, or empty ones. */
  async #withTables<T>(letter: "t" | "b", tables: readonly Fed[], work: (named: Tables) => Promise<T>): Promise<T> {
    const names: string[] = [];
    const made: string[] = [];
    for (const { batches, columns } of tables) {
      if (rowsOf(batches) === 0) {
        const items = columns.map(
          ({ name: column, type }) => `CAST(NULL AS ${type ?? '"NULL"'}) AS "${column.replaceAll('"', '""')}"`,
        );
        names.push(`(SELECT ${items.join(", ") || `NULL AS ${NO_COLUMN}`} WHERE false)`);
        continue;
      }
      const name = `in_process_${this.#next++}`;
      names.push(name);
      made.push(name);
      const table = this.connection.table([concatBatches(batches)]);
      try {
        this.connection.execute(`CREATE TABLE ${name} AS SELECT * FROM ${table.sql}`);
      } finally {
        table.release();
      }
    }
    try {
      return await work(numberedTables(letter, names));
    } finally {
      for (const name of made) this.connection.execute(`DROP TABLE ${name}`);
    }
  }

  #scattered(batches: readonly RecordBatch[], count: number): Piece[] {
    const some = batches.filter((batch) => batch.length > 0);
    if (some.length === 0) return [];
    const table = this.connection.table([concatBatches(some)]);
    try {
      const out: Piece[] = [];
      for (let partition = 0; partition < count; partition++) {
        const rows = this.#query(`SELECT * EXCLUDE (${PARTITION}) FROM ${table.sql} WHERE ${PARTITION} = ${partition}`);
        if (rows.length > 0) out.push({ ...rows, partition });
      }
      if (rowsOf(out) !== rowsOf(some)) throw new Error(`rows have a partition that is not one of ${count}`);
      return out;
    } finally {
      table.release();
    }
  }

  async #step(step: Step, batches: readonly RecordBatch[], named: Tables): Promise<RecordBatch[]> {
    if (rowsOf(batches) === 0) return [];
    if (step.kind === "sql") {
      const table = this.connection.table(batches);
      try {
        return [this.#query(withColumns(this.connection, step, [...named, [INPUT, table.sql]]))];
      } finally {
        table.release();
      }
    }
    const payload = this.#blocks.get(step.payload.id);
    if (!(payload instanceof Uint8Array)) throw new Error("the function's payload is gone");
    const revived = await reviveFunction(payload);
    const instance = step.isClass ? ((await revived.construct?.()) as { call(batch: unknown): unknown }) : null;
    const call = (value: unknown) => (instance === null ? revived.call(value) : instance.call(value));
    const whole = concatBatches(batches);
    return functionStep(step, call, whole);
  }

  #query(sql: string): RecordBatch {
    const stream = this.connection.query(sql);
    try {
      const copies: RecordBatch[] = [];
      for (let batch = stream.next(); batch !== null; batch = stream.next()) copies.push(concatBatches([batch]));
      if (copies.length > 0) return concatBatches(copies);
      return { schema: stream.schema, length: 0, columns: [] };
    } finally {
      stream.close();
    }
  }

  /** As a worker hands on the rows of a fed task: the sum of whole numbers is a BIGINT. */
  #withoutHugeint(sql: string): string {
    const huge = this.connection
      .all(`SELECT column_name AS name FROM (DESCRIBE ${sql}) WHERE column_type = 'HUGEINT'`)
      .map(
        ({ name }) =>
          `CAST("${String(name).replaceAll('"', '""')}" AS BIGINT) AS "${String(name).replaceAll('"', '""')}"`,
      );
    return huge.length === 0 ? sql : `SELECT * REPLACE (${huge.join(", ")}) FROM (${sql})`;
  }

  #write(operator: TaskOperator, batches: readonly RecordBatch[], index: number): readonly WrittenFile[] {
    const { sink } = operator;
    if (sink.kind !== "files" || batches.every((batch) => batch.length === 0)) return [];
    mkdirSync(sink.directory, { recursive: true });
    const path = `part-${index}.${sink.format}`;
    const table = this.connection.table(batches);
    try {
      this.connection.execute(`COPY (FROM ${table.sql}) TO '${join(sink.directory, path)}' (FORMAT ${sink.format})`);
    } finally {
      table.release();
    }
    return [{ path, rows: batches.reduce((sum, batch) => sum + batch.length, 0), bytes: 1 }];
  }
}

/** A block, and the partition it was scattered to. */
type Piece = RecordBatch & { readonly partition?: number };
type Outputs = Map<number, readonly Piece[]>;
type Tables = readonly (readonly [string, string])[];
type Fed = { readonly batches: readonly Piece[]; readonly columns: FedTable["columns"] };
type Task = Split | { readonly kind: "fed"; readonly tables: readonly Fed[] } | readonly RecordBatch[];

const madeBy = (operators: readonly number[], outputs: Outputs) => operators.flatMap((id) => outputs.get(id) ?? []);
const rowsOf = (batches: readonly RecordBatch[]) => batches.reduce((sum, batch) => sum + batch.length, 0);

function fedTable({ operators, columns }: FedTable, outputs: Outputs): Fed {
  return { batches: madeBy(operators, outputs).filter((batch) => batch.length > 0), columns };
}

/** The tables of each task of a fed operator. */
function gatherings(
  { tables, gather }: Extract<TaskOperator["input"], { kind: "fed" }>,
  outputs: Outputs,
): { kind: "fed"; tables: readonly Fed[] }[] {
  const all = tables.map((table) => fedTable(table, outputs));
  if (gather.kind === "whole" && all.every(({ batches }) => rowsOf(batches) === 0)) return [];
  if (gather.kind === "all" || gather.kind === "whole") return [{ kind: "fed", tables: all }];
  if (gather.kind === "partitions") {
    return Array.from({ length: gather.count }, (_, i) => ({
      kind: "fed",
      tables: all.map(({ batches, columns }) => ({
        batches: batches.filter(({ partition }) => partition === i),
        // What other partitions know of the columns.
        columns:
          batches[0]?.schema.fields.map((field) => ({ name: field.name, type: typeName(field.type) })) ?? columns,
      })),
    }));
  }
  const [{ batches, columns } = { batches: [], columns: [] }] = all;
  const total = rowsOf(batches);
  const count = gather.kind === "parts" ? gather.count : Math.ceil(total / gather.rows);
  const bound = (i: number) => (gather.kind === "parts" ? Math.floor((total * i) / count) : i * gather.rows);
  return Array.from({ length: count }, (_, i) => ({
    kind: "fed",
    tables: [{ batches: sliced(batches, bound(i), bound(i + 1) - bound(i)), columns }],
  }));
}

function sliced(batches: readonly Piece[], offset: number, limit: number | null): RecordBatch[] {
  const out: RecordBatch[] = [];
  let skip = offset;
  let left = limit ?? Number.POSITIVE_INFINITY;
  for (const batch of batches) {
    const start = Math.min(skip, batch.length);
    skip -= start;
    const end = Math.min(batch.length, start + left);
    left -= end - start;
    if (end > start) out.push(sliceBatch(batch, start, end));
  }
  return out;
}
