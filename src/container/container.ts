/**
 * A user's own container for what their functions keep in a worker: a Map-like that lives there from the worker's start
 * to its end. What it must be able to do, and how a function finds it. Who makes it is src/session's and src/worker's
 * matter.
 */
import { OptionError } from "../errors/index.ts";

/** Anything that can do what is used of a Map. */
export interface MapLike<K = unknown, V = unknown> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
  has(key: K): boolean;
  delete(key: K): unknown;
  keys(): Iterable<K>;
  /** Without it, `keys` and `get` tell the values. */
  values?(): Iterable<V>;
  /** What it holds in memory, where it knows; without one its values are measured. */
  readonly bytes?: number;
}

/** One that can make room: part of it is in memory, the rest elsewhere. */
export interface EvictingContainer<K = unknown, V = unknown> extends MapLike<K, V> {
  /** What is in memory. */
  readonly fast: MapLike<K, V>;
  /** Puts something of `fast` elsewhere: the bytes that are free now, or −1 where there is nothing left to free. */
  evict(): number | Promise<number>;
}

/** What a factory is told beside its own arguments, as the last one. */
export interface ContainerPlace {
  readonly worker: number;
  /** For files; gone with the session. */
  readonly directory: string;
}

/** A container of which each worker has its own copy, what makes one in each worker, or that with arguments. */
export type ContainerOption =
  | MapLike
  | ContainerFactory
  | readonly [ContainerFactory, ...unknown[]]
  | { readonly factory: ContainerFactory; readonly args?: readonly unknown[] };

// biome-ignore lint/suspicious/noExplicitAny: a factory's arguments are its own matter.
export type ContainerFactory = ((...args: any[]) => unknown) | (abstract new (...args: any[]) => object);

const METHODS = ["get", "set", "has", "delete", "keys"] as const;
/** Where functions find it, whatever copy of this package they have. */
const PLACE = Symbol.for("spillway.workerData");

export function isMapLike(value: unknown): value is MapLike {
  return missingMethods(value).length === 0;
}

/** What keeps a value from being a container. */
export function missingMethods(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return METHODS;
  return METHODS.filter((name) => typeof Reflect.get(value, name) !== "function");
}

export function isEvicting(container: MapLike): container is EvictingContainer {
  return (
    "evict" in container && typeof container.evict === "function" && "fast" in container && isMapLike(container.fast)
  );
}

/** Before any function runs in this process. */
export function setWorkerData(container: MapLike): void {
  Reflect.set(globalThis, PLACE, container);
}

/** Inside a function that runs in a worker: the worker's container, as the session's option `data` says. */
export function workerData<Container extends object = Map<unknown, unknown>>(): Container {
  const container: unknown = Reflect.get(globalThis, PLACE);
  if (isContainer<Container>(container)) return container;
  throw new OptionError(
    "workerData: there is no worker data here. Call it in functions that run in a worker of a session with the option " +
      "`data`, such as session({ data: new Map() }); the program itself has no worker data.",
  );
}

/** The caller knows what its own option was. */
function isContainer<Container extends object>(value: unknown): value is Container {
  return isMapLike(value);
}

/** Whether what it makes is a container is seen when it makes it. */
export function mayBeContainer(value: unknown): value is ContainerOption {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
