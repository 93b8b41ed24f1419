/**
 * The default session, used by the functions that the package exports. Made at the first use, and again after a
 * `close()`; ends with the program.
 */
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
import type { SessionOptions } from "./options.ts";
import { Session } from "./session.ts";

let current: Session | null = null;
let configured: SessionOptions = {};

/** The default session, for what only a session can do: `memory()`, `run`, `onEvent`, `close()`. */
export function defaultSession(): Session {
  if (current === null || current.isClosed) current = new Session(configured);
  return current;
}

/** Sets the options of the default session; an error once it has started. */
export function configure(options: SessionOptions): void {
  if (current === null || current.isClosed) current = new Session(options);
  else current.configure(options);
  configured = options;
}

export function range(end: number, options?: InputOptions): Dataset<{ id: number }>;
export function range(start: number, end: number, step?: number, options?: InputOptions): Dataset<{ id: number }>;
export function range(
  first: number,
  second?: number | InputOptions,
  step?: number,
  options?: InputOptions,
): Dataset<{ id: number }> {
  if (typeof second === "number") return defaultSession().range(first, second, step, options);
  return defaultSession().range(first, second);
}

export function fromItems<R extends AnyRow>(rows: Iterable<R> | AsyncIterable<R>, options?: ItemsOptions): Dataset<R> {
  return defaultSession().fromItems(rows, options);
}

export function fromArrow<R extends AnyRow = AnyRow>(table: unknown, options?: InputOptions): Dataset<R> {
  return defaultSession().fromArrow<R>(table, options);
}

export function readParquet<R extends AnyRow = AnyRow>(paths: Paths, options?: ReadOptions): Dataset<R> {
  return defaultSession().readParquet<R>(paths, options);
}

export function readCsv<R extends AnyRow = AnyRow>(paths: Paths, options?: ReadOptions & CsvOptions): Dataset<R> {
  return defaultSession().readCsv<R>(paths, options);
}

export function readJson<R extends AnyRow = AnyRow>(paths: Paths, options?: ReadOptions & JsonOptions): Dataset<R> {
  return defaultSession().readJson<R>(paths, options);
}

export function readText(
  paths: Paths,
  options?: Omit<ReadOptions, "schema" | "unionByName"> & TextOptions,
): Dataset<{ text: string }> {
  return defaultSession().readText(paths, options);
}

export function readArrow<R extends AnyRow = AnyRow>(paths: Paths, options?: ReadOptions): Dataset<R> {
  return defaultSession().readArrow<R>(paths, options);
}

export function readBinary(
  paths: Paths,
  options?: Omit<ReadOptions, "schema" | "unionByName" | "includePaths">,
): Dataset<{ path: string; bytes: Uint8Array }> {
  return defaultSession().readBinary(paths, options);
}
