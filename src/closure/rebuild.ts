/**
 * Makes a payload's values again. First everything is created, then it is filled, so that cycles need no special care.
 * Functions come before classes, and classes before their instances. Variables are set as soon as their values exist,
 * because a class may use one while it is being made (a computed method name).
 */
import { types } from "node:util";
import { SpillwayError } from "../errors/index.ts";
import { resolveBuiltin } from "./builtins.ts";
import { requireFrom } from "./modules.ts";
import {
  CONFIGURABLE,
  ENUMERABLE,
  type NodeId,
  ORDINARY,
  type Origin,
  type Payload,
  type Properties,
  type Slots,
  type ValueNode,
  WRITABLE,
} from "./payload.ts";

/** A running program: thunks of its functions, setters of its variables. */
export interface RunningProgram {
  readonly pieces: ((parent: unknown) => object)[];
  readonly set: ((value: unknown) => void)[];
}

interface Rebuilt {
  readonly root: unknown;
  readonly constructorArgs: readonly unknown[];
}

const ABSENT = Symbol("absent");

export function rebuild(payload: Payload, modules: readonly unknown[], programs: readonly RunningProgram[]): Rebuilt {
  return new Rebuilding(payload, modules, programs).all();
}

class Rebuilding {
  readonly #payload: Payload;
  readonly #modules: readonly unknown[];
  readonly #programs: readonly RunningProgram[];
  readonly #values: unknown[];
  readonly #buffers: readonly ArrayBuffer[];

  constructor(payload: Payload, modules: readonly unknown[], programs: readonly RunningProgram[]) {
    this.#payload = payload;
    this.#modules = modules;
    this.#programs = programs;
    this.#values = payload.nodes.map(() => ABSENT);
    // Copies, because the payload may be in memory that others own.
    this.#buffers = payload.buffers.map((bytes) => new Uint8Array(bytes).buffer);
  }

  all(): Rebuilt {
    const { nodes, root, constructorArgs } = this.#payload;
    this.#makeWhere(standsAlone);
    this.#makeWhere(({ origin }) => origin.kind === "function" && !origin.isClass);
    this.#makeWhere(({ origin }) => origin.kind === "function");
    this.#makeWhere(() => true);
    for (const [id, node] of nodes.entries()) this.#fill(id, node);
    for (const [id, { integrity }] of nodes.entries()) {
      if (integrity === "frozen") Object.freeze(this.#values[id]);
      else if (integrity === "sealed") Object.seal(this.#values[id]);
      else if (integrity === "closed") Object.preventExtensions(this.#values[id]);
    }
    return { root: this.#make(root), constructorArgs: this.#resolve(constructorArgs) };
  }

  #make(id: NodeId): unknown {
    const known = this.#values[id];
    if (known !== ABSENT) return known;
    const node = this.#payload.nodes[id];
    if (node === undefined) throw new SpillwayError(`A function's payload has no node ${id}: it is damaged.`);
    const made = this.#create(node);
    this.#values[id] = made;
    return made;
  }

  #create(node: ValueNode): unknown {
    const { origin, prototype } = node;
    if (origin.kind === "object") {
      return Object.create(
        prototype === undefined ? Object.prototype : prototype === null ? null : this.#parent(prototype),
      );
    }
    const value = this.#fromOrigin(origin);
    if (prototype !== undefined) Object.setPrototypeOf(value, prototype === null ? null : this.#parent(prototype));
    return value;
  }

  #parent(id: NodeId): object {
    return Object(this.#make(id));
  }

  #fromOrigin(origin: Exclude<Origin, { kind: "object" }>): unknown {
    switch (origin.kind) {
      case "array":
        return new Array(origin.length);
      case "map":
        return new Map();
      case "set":
        return new Set();
      case "error":
        return withoutStack();
      case "new":
        return Reflect.construct(constructorAt(origin.builtin.split(".")), origin.args);
      case "boxed":
        return Object(origin.primitive);
      case "buffer":
        return this.#buffers[origin.buffer];
      case "view": {
        const memory = this.#buffers[origin.buffer] as ArrayBuffer;
        if (origin.builtin === "Buffer") return Buffer.from(memory, origin.offset, origin.length);
        return Reflect.construct(constructorAt([origin.builtin]), [memory, origin.offset, origin.length]);
      }
      case "symbol":
        return origin.wellKnown ? Reflect.get(Symbol, origin.key) : Symbol.for(origin.key);
      case "builtin":
        return resolveBuiltin(origin.path);
      case "prototype":
        return Reflect.get(this.#parent(origin.of), "prototype");
      case "import":
        return exportAt(this.#payload, this.#modules, origin);
      case "require":
        return requireFrom(origin.from);
      case "bound": {
        const [self, ...args] = this.#resolve(origin.selfAndArgs);
        return Function.prototype.bind.call(this.#make(origin.target) as () => unknown, self, ...args);
      }
      case "function": {
        const piece = this.#programs[origin.program]?.pieces[origin.piece];
        if (piece === undefined) throw new SpillwayError(`A function's payload lacks "${origin.name}": it is damaged.`);
        const fn = piece(origin.parent === null ? undefined : this.#make(origin.parent));
        const given: unknown = Reflect.get(fn, "name");
        if (given !== origin.name && typeof given === "string") {
          Object.defineProperty(fn, "name", { value: origin.name, configurable: true });
        }
        return fn;
      }
    }
  }

  #resolve({ values: items, links }: Slots): unknown[] {
    const resolved = [...items];
    for (let i = 0; i + 1 < links.length; i += 2) resolved[links[i] ?? 0] = this.#make(links[i + 1] ?? -1);
    return resolved;
  }

  /** Sets the variables whose values exist by now. */
  #setVariables(): void {
    for (const [index, { variables }] of this.#payload.programs.entries()) {
      const isLinked = new Map<number, NodeId>();
      for (let i = 0; i + 1 < variables.links.length; i += 2) {
        isLinked.set(variables.links[i] ?? 0, variables.links[i + 1] ?? -1);
      }
      for (const [at, plain] of variables.values.entries()) {
        const link = isLinked.get(at);
        const value = link === undefined ? plain : this.#values[link];
        if (value !== ABSENT) this.#programs[index]?.set[at]?.(value);
      }
    }
  }

  #makeWhere(wanted: (node: ValueNode) => boolean): void {
    for (const [id, node] of this.#payload.nodes.entries()) if (wanted(node)) this.#make(id);
    this.#setVariables();
  }

  #fill(id: NodeId, node: ValueNode): void {
    const value = this.#values[id];
    if (node.origin.kind === "map") {
      const entries = this.#resolve(node.origin.entries);
      for (let i = 0; i < entries.length; i += 2) Map.prototype.set.call(value, entries[i], entries[i + 1]);
    }
    if (node.origin.kind === "set") {
      for (const entry of this.#resolve(node.origin.entries)) Set.prototype.add.call(value, entry);
    }
    if (node.properties !== undefined)
      setProperties(Object(value), node.properties, this.#resolve(node.properties.slots), (id) => this.#make(id));
  }
}

function standsAlone({ origin, prototype }: ValueNode): boolean {
  return (
    prototype === undefined && origin.kind !== "function" && origin.kind !== "prototype" && origin.kind !== "bound"
  );
}

function setProperties(
  target: object,
  { names, flags, accessors }: Properties,
  items: readonly unknown[],
  make: (id: NodeId) => unknown,
): void {
  const keyOf = (name: string | NodeId) => (typeof name === "number" ? (make(name) as symbol) : name);
  for (const [i, name] of names.entries()) {
    Object.defineProperty(target, keyOf(name), { value: items[i], ...attributes(flags?.[i] ?? ORDINARY) });
  }
  for (const { name, get, set, flags: bits } of accessors ?? []) {
    Object.defineProperty(target, keyOf(name), {
      ...(get === null ? {} : { get: make(get) as () => unknown }),
      ...(set === null ? {} : { set: make(set) as (value: unknown) => void }),
      enumerable: (bits & ENUMERABLE) !== 0,
      configurable: (bits & CONFIGURABLE) !== 0,
    });
  }
}

function attributes(flags: number): { writable: boolean; enumerable: boolean; configurable: boolean } {
  return {
    writable: (flags & WRITABLE) !== 0,
    enumerable: (flags & ENUMERABLE) !== 0,
    configurable: (flags & CONFIGURABLE) !== 0,
  };
}

// biome-ignore lint/complexity/noBannedTypes: Reflect.construct takes any constructor.
function constructorAt(path: readonly string[]): Function {
  const found = resolveBuiltin(path);
  if (typeof found !== "function") throw new SpillwayError(`This worker's Node has no ${path.join(".")}.`);
  return found;
}

/** An error's stack travels as a property, so none is recorded here. */
function withoutStack(): Error {
  const error = new Error();
  if (types.isNativeError(error))
    Object.defineProperty(error, "stack", { value: "", writable: true, configurable: true });
  return error;
}

function exportAt(payload: Payload, modules: readonly unknown[], origin: Origin & { kind: "import" }): unknown {
  let value = modules[origin.module];
  for (const name of origin.path) {
    if (!(name in Object(value))) {
      const specifier = payload.modules[origin.module]?.specifier;
      throw new SpillwayError(
        `A function imports ${origin.path.join(".")} from "${specifier}", which has no "${name}".`,
      );
    }
    value = Reflect.get(Object(value), name);
  }
  return value;
}
