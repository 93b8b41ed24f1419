/** The session behind the functions that the package exports: made at the first use, gone with the program. */
import type {
  AnyRow,
  CsvOptions,
  Dataset,
  InputOptions,
  ItemsOptions,
  JsonOptions,
  Paths,
  ReadOptions,
} from "../dataset/index.ts";
import type { SessionOptions } from "./options.ts";
import { Session } from "./session.ts";

let current: Session | null = null;

function theSession(): Session {
  current ??= new Session();
  return current;
}

/** Options of the default session; an error once it has started. */
export function configure(options: SessionOptions): void {
  if (current === null) current = new Session(options);
  else current.configure(options);
}

export function range(end: number, options?: InputOptions): Dataset<{ id: number }>;
export function range(start: number, end: number, step?: number, options?: InputOptions): Dataset<{ id: number }>;
export function range(
  first: number,
  second?: number | InputOptions,
  step?: number,
  options?: InputOptions,
): Dataset<{ id: number }> {
  if (typeof second === "number") return theSession().range(first, second, step, options);
  return theSession().range(first, second);
}

export function fromItems<R extends AnyRow>(rows: Iterable<R>, options?: ItemsOptions): Dataset<R> {
  return theSession().fromItems(rows, options);
}

export function fromArrow<R extends AnyRow = AnyRow>(table: unknown, options?: InputOptions): Dataset<R> {
  return theSession().fromArrow<R>(table, options);
}

export function readParquet<R extends AnyRow = AnyRow>(paths: Paths, options?: ReadOptions): Dataset<R> {
  return theSession().readParquet<R>(paths, options);
}

export function readCsv<R extends AnyRow = AnyRow>(paths: Paths, options?: ReadOptions & CsvOptions): Dataset<R> {
  return theSession().readCsv<R>(paths, options);
}

export function readJson<R extends AnyRow = AnyRow>(paths: Paths, options?: ReadOptions & JsonOptions): Dataset<R> {
  return theSession().readJson<R>(paths, options);
}

export function readText(
  paths: Paths,
  options?: Omit<ReadOptions, "schema" | "unionByName">,
): Dataset<{ text: string }> {
  return theSession().readText(paths, options);
}

export function readArrow<R extends AnyRow = AnyRow>(paths: Paths, options?: ReadOptions): Dataset<R> {
  return theSession().readArrow<R>(paths, options);
}

export function readBinary(
  paths: Paths,
  options?: Omit<ReadOptions, "schema" | "unionByName" | "includePaths">,
): Dataset<{ path: string; bytes: Uint8Array }> {
  return theSession().readBinary(paths, options);
}
