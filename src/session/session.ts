/** A session as users hold it: the sources as methods, and an end. Everything else is its engine's. */

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

  /** @internal A function that captured it is refused with this. */
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

  /** Rows that the program has, or an iterator of them, which is read as far as it is needed. */
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

  /** A row a line, in the column `text`. */
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

  /** A row a file: `path` and `bytes`. */
  readBinary(
    paths: Paths,
    options?: Omit<ReadOptions, "schema" | "unionByName" | "includePaths">,
  ): Dataset<{ path: string; bytes: Uint8Array }> {
    return sources.readBinary(this.#engine, paths, options);
  }

  /** What the session has and what of it is in use now. Starts its processes where they have not been started. */
  resources(): Promise<SessionResources> {
    return this.#engine.resources();
  }

  /** Where the memory is: of the machine, the program, the supervisor, the store, and of every worker by kind. */
  memory(): Promise<SessionMemory> {
    return this.#engine.memory();
  }

  /**
   * Another `memoryLimit` for every worker, from now on: "2 GiB", a share of the machine, "auto", or 0 for none.
   * Thresholds follow at once; workers are replaced one after another, because V8 keeps the heap that it was started
   * with.
   */
  setMemoryLimit(limit: NonNullable<SessionOptions["memoryLimit"]>): Promise<void> {
    return this.#engine.setMemoryLimit(limit);
  }

  /** Evens out the blocks that workers are answerable for. Nothing is copied: blocks are in memory that all share. */
  rebalance(): Promise<Rebalanced> {
    return this.#engine.rebalance();
  }

  /**
   * Calls a function in every worker, busy or not, and returns what each returned, in the order of the workers. It
   * travels as functions of datasets do, its arguments with it. Where it throws, or a worker ends meanwhile, that is
   * thrown here.
   */
  async run<Args extends readonly unknown[], Value>(
    fn: (...args: Args) => Value,
    ...args: Args
  ): Promise<WorkerValue<Awaited<Value>>[]> {
    const payload = callPayload(fn, args);
    return workerValues<Awaited<Value>>(await this.#engine.call(payload));
  }

  /** Gives memory that no worker needs back to the system, and says how much that was. */
  async trim(): Promise<Trimmed> {
    return trimmed(await this.#engine.trim());
  }

  /** Calls the listener with what happens to memory and workers, as it happens; the result of the call ends that. */
  onEvent(listener: (event: TimedEvent) => void): () => void {
    return this.#engine.onEvent(listener);
  }

  /** `close()` was called. */
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

  /** For the default session: other options, as long as nothing has started with the old ones. */
  configure(options: SessionOptions): void {
    this.#engine.configure(options);
  }
}

/** A session of your own. Nothing starts before the first consuming call. */
export function session(options: SessionOptions = {}): Session {
  return new Session(options);
}
