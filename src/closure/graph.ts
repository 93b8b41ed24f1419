/**
 * Turns captured values into nodes of a payload. One object is one node, however many closures hold it. Works through a
 * queue and not by recursion, because captured data may be deep. Functions (functions.ts) and objects (objects.ts) are
 * encoded elsewhere, and call back for the values they contain.
 */
import { collectBuffers } from "./buffers.ts";
import { type FunctionEncoder, ObjectEncoder } from "./objects.ts";
import { type ModuleRequest, type NodeId, OBJECT, type Slots, type ValueNode } from "./payload.ts";
import { plainData } from "./plain-data.ts";
import type { Trail } from "./trail.ts";

/** Longer lists of names are not shared. */
const LONGEST_LIST = 64;

export class Graph {
  readonly #functions: FunctionEncoder;
  readonly #objects: ObjectEncoder;
  readonly #plain = plainData();
  readonly #buffers = collectBuffers();
  readonly #nodes: ValueNode[] = [];
  readonly #modules: ModuleRequest[] = [];
  readonly #ids = new Map<unknown, NodeId>();
  readonly #imports = new Map<string, NodeId>();
  readonly #lists = new Map<string, (string | NodeId)[]>();
  readonly #queue: { id: NodeId; value: object | symbol; trail: Trail }[] = [];

  constructor(operator: string, functions: FunctionEncoder) {
    this.#functions = functions;
    this.#objects = new ObjectEncoder(operator, this, functions, this.#buffers);
  }

  get nodes(): readonly ValueNode[] {
    return this.#nodes;
  }

  get modules(): readonly ModuleRequest[] {
    return this.#modules;
  }

  add(node: ValueNode): NodeId {
    return this.#nodes.push(node) - 1;
  }

  /** The node of a value that is never plain data: a function, a symbol, a prototype. */
  node(value: object | symbol, trail: Trail): NodeId {
    const known = this.#ids.get(value);
    if (known !== undefined) return known;
    const id = this.add({ origin: OBJECT });
    this.#ids.set(value, id);
    this.#queue.push({ id, value, trail });
    return id;
  }

  /** The node of a value; null if the value is embedded as plain data. */
  #reach(value: unknown, trail: Trail): NodeId | null {
    if (typeof value === "symbol" || typeof value === "function") return this.node(value, trail);
    if (typeof value !== "object" || value === null) return null;
    return this.#ids.get(value) ?? (this.#plain.isPlain(value) ? null : this.node(value, trail));
  }

  put(slots: Slots, value: unknown, trail: Trail): void {
    const id = this.#reach(value, trail);
    if (id === null) slots.values.push(value);
    else this.link(slots, id);
  }

  link(slots: Slots, id: NodeId): void {
    slots.links.push(slots.values.push(undefined) - 1, id);
  }

  /** The number of a module to load. */
  module(request: ModuleRequest): number {
    const same = this.#modules.findIndex((known) => JSON.stringify(known) === JSON.stringify(request));
    return same >= 0 ? same : this.#modules.push(request) - 1;
  }

  importNode(request: ModuleRequest, path: readonly string[], value: unknown): NodeId {
    const module = this.module(request);
    const key = JSON.stringify([module, path]);
    const id = this.#imports.get(key) ?? this.add({ origin: { kind: "import", module, path } });
    this.#imports.set(key, id);
    // If the same class or function is met elsewhere (as the prototype of an instance, for example), it must be the
    // imported one.
    if ((typeof value === "object" || typeof value === "function") && value !== null && !this.#ids.has(value)) {
      this.#ids.set(value, id);
    }
    return id;
  }

  /** Returns an earlier list that is equal, if there is one: a thousand instances of a class ship their names once. */
  intern(names: (string | NodeId)[]): (string | NodeId)[] {
    if (names.length > LONGEST_LIST) return names;
    const key = JSON.stringify(names);
    const known = this.#lists.get(key);
    if (known === undefined) this.#lists.set(key, names);
    return known ?? names;
  }

  /** Encodes everything that was reached, and then the buffers that views share. */
  finish(): readonly Uint8Array[] {
    for (let item = this.#queue.pop(); item !== undefined; item = this.#queue.pop()) {
      this.#nodes[item.id] = this.#encode(item.value, item.trail);
    }
    return this.#buffers.finish();
  }

  #encode(value: object | symbol, trail: Trail): ValueNode {
    if (typeof value === "symbol") return this.#objects.symbol(value, trail);
    return typeof value === "function" ? this.#functions.encode(value, trail) : this.#objects.object(value, trail);
  }
}
