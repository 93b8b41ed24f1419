/**
 * Encodes objects and symbols: what makes the object again, its prototype, its properties. An object that another
 * process cannot make again is refused here, with a remedy.
 */
import { types } from "node:util";
import { isWeakRef } from "../realm/index.ts";
import type { CollectedBuffers } from "./buffers.ts";
import { builtinModulePath, builtinOf, builtinPath, remake } from "./builtins.ts";
import type { Graph } from "./graph.ts";
import { emptySlots, type NodeId, nodeModule, OBJECT, type Origin, type ValueNode } from "./payload.ts";
import { encodeProperties, integrityOf } from "./properties.ts";
import { staysBehind } from "./stays.ts";
import { AWAIT_IT, below, OPEN_INSIDE, refuse, type Trail } from "./trail.ts";

/** What objects and the graph ask about functions. */
export interface FunctionEncoder {
  encode(fn: object, trail: Trail): ValueNode;
  /** Whether it has source that can be shipped. Native functions and Node's own have none. */
  isSource(fn: object): boolean;
  isClass(fn: object): boolean;
  /** Why an instance of this class cannot be rebuilt ("has private fields (#key)"), or null. */
  obstacle(maker: object): string | null;
  /** Own properties of the prototype of a class or function that its source does not make. */
  prototypeExtras(maker: object, prototype: object): readonly (string | symbol)[];
}

export class ObjectEncoder {
  readonly #operator: string;
  readonly #graph: Graph;
  readonly #functions: FunctionEncoder;
  readonly #buffers: CollectedBuffers;

  constructor(operator: string, graph: Graph, functions: FunctionEncoder, buffers: CollectedBuffers) {
    this.#operator = operator;
    this.#graph = graph;
    this.#functions = functions;
    this.#buffers = buffers;
  }

  symbol(value: symbol, trail: Trail): ValueNode {
    const key = Symbol.keyFor(value);
    if (key !== undefined) return { origin: { kind: "symbol", wellKnown: false, key } };
    const wellKnown = Object.getOwnPropertyNames(Symbol).find((name) => Reflect.get(Symbol, name) === value);
    if (wellKnown !== undefined) return { origin: { kind: "symbol", wellKnown: true, key: wellKnown } };
    throw refuse(this.#operator, trail, `${String(value)}, a symbol without a key`, 'Make it with Symbol.for("…").');
  }

  object(value: object, trail: Trail): ValueNode {
    const impossible = cannotTravel(value);
    if (impossible !== null)
      throw refuse(this.#operator, trail, impossible, types.isPromise(value) ? AWAIT_IT : OPEN_INSIDE);
    const stays = staysBehind(value);
    if (stays !== null) throw refuse(this.#operator, trail, stays.what, stays.remedy);
    const maker = constructorOf(value);
    if (maker !== null && this.#functions.isSource(maker)) return this.#prototype(maker, value, trail);
    const path = builtinPath(value);
    if (path !== null) return { origin: { kind: "builtin", path } };
    const [name, ...rest] = (this.#holdsForeign(value) ? builtinModulePath(value) : null) ?? [];
    if (name !== undefined)
      return { origin: { kind: "import", module: this.#graph.module(nodeModule(name)), path: rest } };
    const { origin, natural, skip } = this.#originOf(value, trail);
    if (origin.kind === "view" || origin.kind === "buffer") return { origin };
    const prototype: object | null = Object.getPrototypeOf(value);
    if (prototype !== natural) this.#checkInstance(value, origin, natural, trail);
    return {
      origin,
      ...(prototype === natural ? {} : { prototype: prototype === null ? null : this.#graph.node(prototype, trail) }),
      ...encodeProperties(this.#graph, value, trail, ownKeys(value, skip)),
      ...(Object.isExtensible(value) ? {} : { integrity: integrityOf(value) }),
    };
  }

  #prototype(maker: object, value: object, trail: Trail): ValueNode {
    const of = this.#graph.node(maker, trail);
    const extras = this.#functions.prototypeExtras(maker, value);
    const properties = encodeProperties(this.#graph, value, trail, extras);
    return { origin: { kind: "prototype", of }, ...properties, ...this.#parentPrototype(maker, value, trail) };
  }

  /**
   * Node's own modules are objects with functions that are not the user's. Looking all of them up is only worth it for
   * such objects.
   */
  #holdsForeign(value: object): boolean {
    if (builtinOf(Object.getPrototypeOf(value)) !== "Object") return false;
    for (const { value: item } of Object.values(Object.getOwnPropertyDescriptors(value))) {
      if (typeof item === "function") return !this.#functions.isSource(item);
    }
    return false;
  }

  /** The prototype of `function Old() {}` may have been given another parent by hand; a class sets its own. */
  #parentPrototype(maker: object, value: object, trail: Trail): { prototype?: NodeId | null } {
    const parent: object | null = Object.getPrototypeOf(value);
    if (builtinOf(parent) === "Object" || this.#functions.isClass(maker)) return {};
    return { prototype: parent === null ? null : this.#graph.node(parent, trail) };
  }

  #originOf(value: object, trail: Trail): { origin: Origin; natural: object | null; skip: readonly string[] } {
    const natural = (builtin: "Array" | "Error" | "Map" | "Object" | "Set") => naturalPrototype(value, builtin);
    if (Array.isArray(value)) {
      return { origin: { kind: "array", length: value.length }, natural: natural("Array"), skip: ["length"] };
    }
    if (types.isMap(value)) {
      const entries = emptySlots();
      for (const [key, item] of value) {
        this.#graph.put(entries, key, below(trail, "key", value));
        this.#graph.put(
          entries,
          item,
          typeof key === "string" ? below(trail, key, value) : below(trail, "value", value),
        );
      }
      return { origin: { kind: "map", entries }, natural: natural("Map"), skip: [] };
    }
    if (types.isSet(value)) {
      const entries = emptySlots();
      for (const item of value) this.#graph.put(entries, item, below(trail, "item", value));
      return { origin: { kind: "set", entries }, natural: natural("Set"), skip: [] };
    }
    if (types.isNativeError(value)) return { origin: { kind: "error" }, natural: natural("Error"), skip: [] };
    if (types.isAnyArrayBuffer(value) || ArrayBuffer.isView(value)) {
      return { origin: this.#buffers.origin(value), natural: null, skip: [] };
    }
    if (types.isBoxedPrimitive(value)) {
      const skip = types.isStringObject(value) ? Object.getOwnPropertyNames(value) : [];
      return { origin: { kind: "boxed", primitive: value.valueOf() }, natural: Object.getPrototypeOf(value), skip };
    }
    const remade = remake(value);
    if (remade !== null) {
      return { origin: { kind: "new", ...remade }, natural: builtinPrototype(value), skip: privateSymbols(value) };
    }
    return { origin: OBJECT, natural: natural("Object"), skip: [] };
  }

  /**
   * The class of an instance must be shippable, and the instance must have nothing that only a constructor can make.
   */
  #checkInstance(value: object, origin: Origin, natural: object | null, trail: Trail): void {
    for (let at: object | null = Object.getPrototypeOf(value); at !== null && at !== natural; ) {
      if (builtinPath(at) !== null && builtinOf(at) !== "Object") {
        const name: unknown = Reflect.get(at, Symbol.toStringTag) ?? constructorOf(at)?.name;
        if (origin.kind !== "error") {
          throw refuse(this.#operator, trail, `an instance of ${String(name ?? "a builtin")}`, OPEN_INSIDE);
        }
      }
      const maker = constructorOf(at);
      const obstacle = maker === null || builtinPath(at) !== null ? null : this.#functions.obstacle(maker);
      if (obstacle !== null) {
        const own = constructorOf(Object.getPrototypeOf(value))?.name || "a class";
        throw refuse(this.#operator, trail, `an instance of ${own} that ${obstacle}`, OPEN_INSIDE);
      }
      at = Object.getPrototypeOf(at);
    }
  }
}

/** The function whose `prototype` is this object. */
function constructorOf(value: object): { readonly name: string; readonly prototype: object } | null {
  const maker: unknown = Object.getOwnPropertyDescriptor(value, "constructor")?.value;
  if (typeof maker !== "function" || maker.prototype !== value) return null;
  return maker as { name: string; prototype: object } & typeof maker;
}

/** The prototype that the builtin gives to its instances, in the realm of this value. */
function naturalPrototype(value: object, builtin: "Array" | "Error" | "Map" | "Object" | "Set"): object {
  let at: object | null = Object.getPrototypeOf(value);
  while (at !== null && builtinOf(at) !== builtin) at = Object.getPrototypeOf(at);
  return at ?? globalThis[builtin].prototype;
}

function builtinPrototype(value: object): object | null {
  let at: object | null = Object.getPrototypeOf(value);
  while (at !== null && builtinPath(at) === null) at = Object.getPrototypeOf(at);
  return at;
}

/** Node keeps an object's state under symbols of its own; `new` makes them again. */
function privateSymbols(value: object): readonly (string | symbol)[] & readonly string[] {
  return Object.getOwnPropertySymbols(value).filter((key) => Symbol.keyFor(key) === undefined) as never;
}

function ownKeys(value: object, skip: readonly (string | symbol)[]): readonly (string | symbol)[] {
  const keys = Reflect.ownKeys(value);
  return skip.length === 0 ? keys : keys.filter((key) => !skip.includes(key));
}

function cannotTravel(value: object): string | null {
  if (types.isProxy(value)) return "a Proxy";
  if (types.isPromise(value)) return "a Promise";
  if (types.isWeakMap(value)) return "a WeakMap";
  if (types.isWeakSet(value)) return "a WeakSet";
  if (isWeakRef(value)) return "a WeakRef";
  if (types.isGeneratorObject(value)) return "a generator that is running";
  if (types.isMapIterator(value) || types.isSetIterator(value)) return "an iterator";
  if (types.isExternal(value)) return "a native handle";
  if (types.isSharedArrayBuffer(value)) return "a SharedArrayBuffer";
  if (types.isArgumentsObject(value)) return "an arguments object";
  if (ArrayBuffer.isView(value) && types.isSharedArrayBuffer(value.buffer)) return "a view of a SharedArrayBuffer";
  return null;
}
