/** A session as users see it: the sources as methods, and `close`. The engine does the work. */

import { STAYS, type Stays } from "../closure/index.ts";
import type {
  AnyRow,
  CsvOptions,
  Dataset,
  InputOptions,
  ItemsOptions,
  JsonOptions,
  Paths,
  ReadOptions,
  TextOptions,
} from "../dataset/index.ts";
import * as sources from "../dataset/index.ts";
import type { SessionMemory, SessionResources, TimedEvent } from "../protocol/index.ts";
import { type Rebalanced, SessionEngine } from "./engine.ts";
import { callPayload, type Trimmed, trimmed, type WorkerValue, workerValues } from "./every-worker.ts";
import type { MemoryPlan } from "./memory-plan.ts";
import type { SessionOptions } from "./options.ts";

const SESSION_STAYS: Stays = {
  what: "a Session",
  remedy: "Use it outside functions, and let the function return the rows that you need.",
};

export class Session {
  readonly #engine: SessionEngine;

  constructor(options: SessionOptions = {}) {
    this.#engine = new SessionEngine(options);
  }

  /** @internal The error for a function that captured the session. */
  get [STAYS](): Stays {
    return SESSION_STAYS;
  }

  /** Numbers from 0 (or `start`) up to `end`, in the column `id`. */
  range(end: number, options?: InputOptions): Dataset<{ id: number }>;
  range(start: number, end: number, step?: number, options?: InputOptions): Dataset<{ id: number }>;
  range(first: number, second?: number | InputOptions, step?: number, options?: InputOptions): Dataset<{ id: number }> {
    if (typeof second === "number") return sources.range(this.#engine, first, second, step, options);
    return sources.range(this.#engine, first, second);
  }

  /** Rows that the program has, or an iterator of rows, which is read only as far as rows are needed. */
  fromItems<R extends AnyRow>(rows: Iterable<R> | AsyncIterable<R>, options?: ItemsOptions): Dataset<R> {
    return sources.fromItems(this.#engine, rows, options);
  }

  /** A table of `@uwdata/flechette` or `apache-arrow`, or Arrow IPC bytes. */
  fromArrow<R extends AnyRow = AnyRow>(table: unknown, options?: InputOptions): Dataset<R> {
    return sources.fromArrow<R>(this.#engine, table, options);
  }

  readParquet<R extends AnyRow = AnyRow>(paths: Paths, options?: ReadOptions): Dataset<R> {
    return sources.readParquet<R>(this.#engine, paths, options);
  }

  readCsv<R extends AnyRow = AnyRow>(paths: Paths, options?: ReadOptions & CsvOptions): Dataset<R> {
    return sources.readCsv<R>(this.#engine, paths, options);
  }

  /** Newline-delimited JSON, or files that hold one array. */
  readJson<R extends AnyRow = AnyRow>(paths: Paths, options?: ReadOptions & JsonOptions): Dataset<R> {
    return sources.readJson<R>(this.#engine, paths, options);
  }

  /** One row per line, in the column `text`. */
  readText(
    paths: Paths,
    options?: Omit<ReadOptions, "schema" | "unionByName"> & TextOptions,
  ): Dataset<{ text: string }> {
    return sources.readText(this.#engine, paths, options);
  }

  /** Arrow IPC files. */
  readArrow<R extends AnyRow = AnyRow>(paths: Paths, options?: ReadOptions): Dataset<R> {
    return sources.readArrow<R>(this.#engine, paths, options);
  }

  /** One row per file: `path` and `bytes`. */
  readBinary(
    paths: Paths,
    options?: Omit<ReadOptions, "schema" | "unionByName" | "includePaths">,
  ): Dataset<{ path: string; bytes: Uint8Array }> {
    return sources.readBinary(this.#engine, paths, options);
  }

  /** The session's resources, and the part of them that is in use. Starts the processes if necessary. */
  resources(): Promise<SessionResources> {
    return this.#engine.resources();
  }

  /** Shows where the memory is: machine, program, supervisor, store, and every worker by kind of memory. */
  memory(): Promise<SessionMemory> {
    return this.#engine.memory();
  }

  /**
   * What the session will need of the machine's memory at most: execution slots × the largest block. Starts nothing.
   */
  memoryPlan(): MemoryPlan {
    return this.#engine.memoryPlan();
  }

  /** Writes everything about the session so far into one HTML file. Works after `close()`, too. */
  report(path: string): Promise<void> {
    return this.#engine.report(path);
  }

  /**
   * Sets another `memoryLimit` for every worker: "2 GiB", a share of the machine, "auto", or 0 for no limit. Thresholds
   * change at once. Workers are replaced one after another, because V8 keeps the heap limit that it was started with.
   */
  setMemoryLimit(limit: NonNullable<SessionOptions["memoryLimit"]>): Promise<void> {
    return this.#engine.setMemoryLimit(limit);
  }

  /**
   * Evens out the blocks that workers are answerable for. Nothing is copied: all workers share the memory of blocks.
   */
  rebalance(): Promise<Rebalanced> {
    return this.#engine.rebalance();
  }

  /**
   * Calls a function in every worker, busy or not, and returns the result of each, in the order of the workers. The
   * function travels like functions of datasets, with its arguments. Throws if the function throws, or if a worker
   * ends.
   */
  async run<Args extends readonly unknown[], Value>(
    fn: (...args: Args) => Value,
    ...args: Args
  ): Promise<WorkerValue<Awaited<Value>>[]> {
    const payload = callPayload(fn, args);
    return workerValues<Awaited<Value>>(await this.#engine.call(payload));
  }

  /** Returns memory that no worker needs to the system, and reports how much. */
  async trim(): Promise<Trimmed> {
    return trimmed(await this.#engine.trim());
  }

  /** Calls the listener with the events of memory and workers; the returned function ends that. */
  onEvent(listener: (event: TimedEvent) => void): () => void {
    return this.#engine.onEvent(listener);
  }

  /**
   * The address of the dashboard with its token. Null before the first consuming call, after `close()`, and with
   * `dashboard: false`.
   */
  get dashboardUrl(): string | null {
    return this.#engine.dashboardUrl;
  }

  /** Whether `close()` was called. */
  get isClosed(): boolean {
    return this.#engine.isClosed;
  }

  /** Ends every process of the session and frees its memory and files. Resolves when that is done. */
  close(): Promise<void> {
    return this.#engine.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** For the default session: replaces the options, as long as nothing has started with the old ones. */
  configure(options: SessionOptions): void {
    this.#engine.configure(options);
  }
}

/** A session of your own. Nothing starts before the first consuming call. */
export function session(options: SessionOptions = {}): Session {
  return new Session(options);
}
