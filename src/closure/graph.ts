/**
 * Turns captured values into nodes of a payload. One object is one node however many closures hold it. Works through a
 * queue rather than by recursion, because captured data may be deep. Functions are another file's business: they come
 * back here for what they close over.
 */
import { types } from "node:util";
import { isWeakRef } from "../realm/index.ts";
import { collectBuffers } from "./buffers.ts";
import { builtinModulePath, builtinOf, builtinPath, remake } from "./builtins.ts";
import type { ModuleRequest, NodeId, Origin, Slots, ValueNode } from "./payload.ts";
import { plainData } from "./plain-data.ts";
import { encodeProperties, integrityOf } from "./properties.ts";
import { staysBehind } from "./stays.ts";
import { AWAIT_IT, below, OPEN_INSIDE, refuse, type Trail } from "./trail.ts";

/** What the graph asks about functions. */
export interface FunctionEncoder {
  encode(fn: object, trail: Trail): ValueNode;
  /** Does it have source that can be shipped? Native functions and Node's own have not. */
  isSource(fn: object): boolean;
  isClass(fn: object): boolean;
  /** What an instance of this class cannot be rebuilt for ("has private fields (#key)"), or null. */
  obstacle(maker: object): string | null;
  /** Own properties of a class's or function's prototype that its source does not make. */
  prototypeExtras(maker: object, prototype: object): readonly (string | symbol)[];
}

export interface Graph {
  readonly nodes: readonly ValueNode[];
  readonly modules: readonly ModuleRequest[];
  put(slots: Slots, value: unknown, trail: Trail): void;
  link(slots: Slots, node: NodeId): void;
  /** The node of a value that is never plain data: a function, a symbol, a prototype. */
  node(value: object | symbol, trail: Trail): NodeId;
  /** The number of a module to load. */
  module(request: ModuleRequest): number;
  importNode(request: ModuleRequest, path: readonly string[], value: unknown): NodeId;
  add(node: ValueNode): NodeId;
  /** The same list again where there was an equal one: a thousand instances of a class ship their names once. */
  intern(names: (string | NodeId)[]): (string | NodeId)[];
  /** Encodes everything that was reached; then the buffers that views share. */
  finish(): readonly Uint8Array[];
}

/** One object for all, which serialising then writes once. */
const OBJECT: Origin = { kind: "object" };

export function emptySlots(): Slots {
  return { values: [], links: [] };
}

export function createGraph(operator: string, functions: FunctionEncoder): Graph {
  const plain = plainData();
  const buffers = collectBuffers();
  const nodes: ValueNode[] = [];
  const modules: ModuleRequest[] = [];
  const ids = new Map<unknown, NodeId>();
  const imports = new Map<string, NodeId>();
  const queue: { id: NodeId; value: object | symbol; trail: Trail }[] = [];

  const lists = new Map<string, (string | NodeId)[]>();

  function add(node: ValueNode): NodeId {
    return nodes.push(node) - 1;
  }

  function node(value: object | symbol, trail: Trail): NodeId {
    const known = ids.get(value);
    if (known !== undefined) return known;
    const id = add({ origin: OBJECT });
    ids.set(value, id);
    queue.push({ id, value, trail });
    return id;
  }

  /** The node of a value, or null where the value is embedded as it is. */
  function reach(value: unknown, trail: Trail): NodeId | null {
    if (typeof value === "symbol" || typeof value === "function") return node(value, trail);
    if (typeof value !== "object" || value === null) return null;
    return ids.get(value) ?? (plain.isPlain(value) ? null : node(value, trail));
  }

  function put(slots: Slots, value: unknown, trail: Trail): void {
    const id = reach(value, trail);
    if (id === null) slots.values.push(value);
    else link(slots, id);
  }

  function link(slots: Slots, id: NodeId): void {
    slots.links.push(slots.values.push(undefined) - 1, id);
  }

  function moduleIndex(request: ModuleRequest): number {
    const same = modules.findIndex((known) => JSON.stringify(known) === JSON.stringify(request));
    return same >= 0 ? same : modules.push(request) - 1;
  }

  function importNode(request: ModuleRequest, path: readonly string[], value: unknown): NodeId {
    const module = moduleIndex(request);
    const key = JSON.stringify([module, path]);
    const id = imports.get(key) ?? add({ origin: { kind: "import", module, path } });
    imports.set(key, id);
    // The same class or function met elsewhere, as the prototype of an instance say, must be the imported one.
    if ((typeof value === "object" || typeof value === "function") && value !== null && !ids.has(value)) {
      ids.set(value, id);
    }
    return id;
  }

  function encodeSymbol(value: symbol, trail: Trail): ValueNode {
    const key = Symbol.keyFor(value);
    if (key !== undefined) return { origin: { kind: "symbol", wellKnown: false, key } };
    const wellKnown = Object.getOwnPropertyNames(Symbol).find((name) => Reflect.get(Symbol, name) === value);
    if (wellKnown !== undefined) return { origin: { kind: "symbol", wellKnown: true, key: wellKnown } };
    throw refuse(operator, trail, `${String(value)}, a symbol without a key`, 'Make it with Symbol.for("…").');
  }

  function encodeObject(value: object, trail: Trail): ValueNode {
    const impossible = cannotTravel(value);
    if (impossible !== null) throw refuse(operator, trail, impossible, types.isPromise(value) ? AWAIT_IT : OPEN_INSIDE);
    const stays = staysBehind(value);
    if (stays !== null) throw refuse(operator, trail, stays.what, stays.remedy);
    const maker = constructorOf(value);
    if (maker !== null && functions.isSource(maker)) return encodePrototype(maker, value, trail);
    const path = builtinPath(value);
    if (path !== null) return { origin: { kind: "builtin", path } };
    const [name, ...rest] = (holdsForeign(value) ? builtinModulePath(value) : null) ?? [];
    if (name !== undefined) return { origin: { kind: "import", module: moduleIndex(nodeModule(name)), path: rest } };
    const { origin, natural, skip } = originOf(value, trail);
    if (origin.kind === "view" || origin.kind === "buffer") return { origin };
    const prototype: object | null = Object.getPrototypeOf(value);
    if (prototype !== natural) checkInstance(value, origin, natural, trail);
    return {
      origin,
      ...(prototype === natural ? {} : { prototype: prototype === null ? null : node(prototype, trail) }),
      ...encodeProperties(graph, value, trail, ownKeys(value, skip)),
      ...(Object.isExtensible(value) ? {} : { integrity: integrityOf(value) }),
    };
  }

  function encodePrototype(maker: object, value: object, trail: Trail): ValueNode {
    const of = node(maker, trail);
    const extras = functions.prototypeExtras(maker, value);
    const properties = encodeProperties(graph, value, trail, extras);
    return { origin: { kind: "prototype", of }, ...properties, ...parentPrototype(maker, value, trail) };
  }

  /** Node's own modules are objects whose functions are not the user's; looking them all up is worth it only then. */
  function holdsForeign(value: object): boolean {
    if (builtinOf(Object.getPrototypeOf(value)) !== "Object") return false;
    for (const { value: item } of Object.values(Object.getOwnPropertyDescriptors(value))) {
      if (typeof item === "function") return !functions.isSource(item);
    }
    return false;
  }

  /** `function Old() {}` may have had its prototype's parent set by hand; a class makes its own. */
  function parentPrototype(maker: object, value: object, trail: Trail): { prototype?: NodeId | null } {
    const parent: object | null = Object.getPrototypeOf(value);
    if (builtinOf(parent) === "Object" || functions.isClass(maker)) return {};
    return { prototype: parent === null ? null : node(parent, trail) };
  }

  function originOf(value: object, trail: Trail): { origin: Origin; natural: object | null; skip: readonly string[] } {
    const natural = (builtin: "Array" | "Error" | "Map" | "Object" | "Set") => naturalPrototype(value, builtin);
    if (Array.isArray(value)) {
      return { origin: { kind: "array", length: value.length }, natural: natural("Array"), skip: ["length"] };
    }
    if (types.isMap(value)) {
      const entries = emptySlots();
      for (const [key, item] of value) {
        put(entries, key, below(trail, "key", value));
        put(entries, item, typeof key === "string" ? below(trail, key, value) : below(trail, "value", value));
      }
      return { origin: { kind: "map", entries }, natural: natural("Map"), skip: [] };
    }
    if (types.isSet(value)) {
      const entries = emptySlots();
      for (const item of value) put(entries, item, below(trail, "item", value));
      return { origin: { kind: "set", entries }, natural: natural("Set"), skip: [] };
    }
    if (types.isNativeError(value)) return { origin: { kind: "error" }, natural: natural("Error"), skip: [] };
    if (types.isAnyArrayBuffer(value) || ArrayBuffer.isView(value)) {
      return { origin: buffers.origin(value), natural: null, skip: [] };
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

  /** An instance needs a class that can be shipped, and nothing that only a constructor can make. */
  function checkInstance(value: object, origin: Origin, natural: object | null, trail: Trail): void {
    for (let at: object | null = Object.getPrototypeOf(value); at !== null && at !== natural; ) {
      if (builtinPath(at) !== null && builtinOf(at) !== "Object") {
        const name: unknown = Reflect.get(at, Symbol.toStringTag) ?? constructorOf(at)?.name;
        if (origin.kind !== "error") {
          throw refuse(operator, trail, `an instance of ${String(name ?? "a builtin")}`, OPEN_INSIDE);
        }
      }
      const maker = constructorOf(at);
      const obstacle = maker === null || builtinPath(at) !== null ? null : functions.obstacle(maker);
      if (obstacle !== null) {
        const own = constructorOf(Object.getPrototypeOf(value))?.name || "a class";
        throw refuse(operator, trail, `an instance of ${own} that ${obstacle}`, OPEN_INSIDE);
      }
      at = Object.getPrototypeOf(at);
    }
  }

  function drain(): void {
    for (let item = queue.pop(); item !== undefined; item = queue.pop()) {
      const { id, value, trail } = item;
      nodes[id] =
        typeof value === "symbol"
          ? encodeSymbol(value, trail)
          : typeof value === "function"
            ? functions.encode(value, trail)
            : encodeObject(value, trail);
    }
  }

  const graph: Graph = {
    nodes,
    modules,
    put,
    link,
    node,
    module: moduleIndex,
    importNode,
    add,
    intern(names) {
      if (names.length > 64) return names;
      const key = JSON.stringify(names);
      const known = lists.get(key);
      if (known === undefined) lists.set(key, names);
      return known ?? names;
    },
    finish() {
      drain();
      return buffers.finish();
    },
  };
  return graph;
}

export function nodeModule(specifier: string): ModuleRequest {
  return { base: "", specifier, form: "require", attributes: null, interop: "none" };
}

/** The function whose `prototype` this object is. */
function constructorOf(value: object): { readonly name: string; readonly prototype: object } | null {
  const maker: unknown = Object.getOwnPropertyDescriptor(value, "constructor")?.value;
  if (typeof maker !== "function" || maker.prototype !== value) return null;
  return maker as { name: string; prototype: object } & typeof maker;
}

/** The prototype that the builtin gives to what it makes, in the realm that this value is of. */
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
