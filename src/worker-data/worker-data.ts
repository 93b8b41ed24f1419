/**
 * Worker data: a user's Map-like object that lives in a worker from the worker's start to its end. Defines its methods,
 * and how a function finds it. src/session and src/worker make it.
 */
import { OptionError } from "../errors/index.ts";

/** An object with the methods of a Map that are used. */
export interface MapLike<K = unknown, V = unknown> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
  has(key: K): boolean;
  delete(key: K): unknown;
  keys(): Iterable<K>;
  /** Without it, values are read with `keys` and `get`. */
  values?(): Iterable<V>;
  /** Bytes in memory, if the object knows; else its values are measured. */
  readonly bytes?: number;
}

/** Worker data that can make room: a part of it is in memory, the rest elsewhere. */
export interface EvictingWorkerData<K = unknown, V = unknown> extends MapLike<K, V> {
  /** The entries that are in memory. */
  readonly fast: MapLike<K, V>;
  /** Moves entries of `fast` elsewhere; returns the freed bytes, or −1 if nothing is left to free. */
  evict(): number | Promise<number>;
}

/** The last argument of a factory, after its own. */
export interface WorkerDataPlace {
  readonly worker: number;
  /** For files; removed with the session. */
  readonly directory: string;
}

/** A Map-like object that each worker copies, a factory that each worker calls, or a factory with arguments. */
export type WorkerDataOption =
  | MapLike
  | WorkerDataFactory
  | readonly [WorkerDataFactory, ...unknown[]]
  | { readonly factory: WorkerDataFactory; readonly args?: readonly unknown[] };

// biome-ignore lint/suspicious/noExplicitAny: a factory's arguments are its own matter.
export type WorkerDataFactory = ((...args: any[]) => unknown) | (abstract new (...args: any[]) => object);

const METHODS = ["get", "set", "has", "delete", "keys"] as const;
/** A global symbol, so that functions find it with any copy of this package. */
const PLACE = Symbol.for("spillway.workerData");

export function isMapLike(value: unknown): value is MapLike {
  return missingMethods(value).length === 0;
}

/** The missing methods of a value that should be Map-like. */
export function missingMethods(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return METHODS;
  return METHODS.filter((name) => typeof Reflect.get(value, name) !== "function");
}

export function isEvicting(data: MapLike): data is EvictingWorkerData {
  return "evict" in data && typeof data.evict === "function" && "fast" in data && isMapLike(data.fast);
}

/** Called before any function runs in this process. */
export function setWorkerData(data: MapLike): void {
  Reflect.set(globalThis, PLACE, data);
}

/** In a function that runs in a worker: the worker's own worker data (the session's option `data`). */
export function workerData<Data extends object = Map<unknown, unknown>>(): Data {
  const data: unknown = Reflect.get(globalThis, PLACE);
  if (isWorkerData<Data>(data)) return data;
  throw new OptionError(
    "workerData: there is no worker data here. Call it in functions that run in a worker of a session with the option " +
      "`data`, such as session({ data: new Map() }); the program itself has no worker data.",
  );
}

/** The type is the caller's claim: only the methods are checked. */
function isWorkerData<Data extends object>(value: unknown): value is Data {
  return isMapLike(value);
}

/** Whether a factory's result is Map-like is checked when the factory runs. */
export function mayBeWorkerData(value: unknown): value is WorkerDataOption {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
