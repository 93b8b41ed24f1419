/**
 * Encodes functions: builtins and exports of other modules by name, all others as a piece of source with the variables
 * that they close over. The graph encodes the values of these variables.
 */
import { createRequire } from "node:module";
import { types } from "node:util";
import type { Class } from "acorn";
import { ownUrl } from "../place/index.ts";
import { settleBorrowed } from "./borrowed.ts";
import { builtinModulePath, builtinOf, builtinPath, isBuiltinGlobal } from "./builtins.ts";
import { classEdits, extraKeys, privateMembers } from "./class-source.ts";
import { emitProgram, type Piece, parentName } from "./emit.ts";
import { Graph } from "./graph.ts";
import { exportedName, isEntry, isRunnersModule } from "./imports.ts";
import type { Inspector, LiveFunction } from "./inspect.ts";
import type { FunctionSite } from "./lexical.ts";
import type { Edit } from "./mapped-text.ts";
import { namespaceMembers } from "./namespaces.ts";
import type { FunctionEncoder } from "./objects.ts";
import { emptySlots, type ModuleRequest, nodeModule, type PayloadProgram, type ValueNode } from "./payload.ts";
import { encodeProperties } from "./properties.ts";
import { makeInstance, resolveChain } from "./scopes.ts";
import { type Script, siteAt } from "./script.ts";
import { pathOf } from "./source-map.ts";
import type { ProgramDraft, Subject } from "./subject.ts";
import { below, OPEN_INSIDE, refuse, type Trail } from "./trail.ts";
import { settleVariables } from "./variables.ts";

/** Where a function's source is, and V8's view of it. */
export interface Found {
  readonly script: Script;
  readonly site: FunctionSite;
  readonly live: LiveFunction;
}

const { cache } = createRequire(ownUrl);

export class Functions implements FunctionEncoder {
  readonly #operator: string;
  readonly #inspector: Inspector;
  /** The function that the user gave. It is shipped as source even if a module exports it. */
  readonly #root: object;
  readonly #drafts: ProgramDraft[] = [];
  readonly #found = new Map<object, Found | null>();
  readonly #obstacles = new Map<object, string | null>();
  readonly #namespaces = namespaceMembers();
  readonly graph: Graph;

  constructor(operator: string, inspector: Inspector, root: object) {
    this.#operator = operator;
    this.#inspector = inspector;
    this.#root = root;
    this.graph = new Graph(operator, this);
  }

  isSource(fn: object): boolean {
    return this.find(fn) !== null;
  }

  isClass(fn: object): boolean {
    return this.find(fn)?.site.form === "class";
  }

  obstacle(maker: object): string | null {
    const known = this.#obstacles.get(maker);
    if (known !== undefined) return known;
    const obstacle = obstacleOf(maker, this.find(maker));
    this.#obstacles.set(maker, obstacle);
    return obstacle;
  }

  prototypeExtras(maker: object, prototype: object): readonly (string | symbol)[] {
    const place = this.find(maker);
    return place === null ? [] : extrasOf(place.site, place.script, prototype);
  }

  programs(): readonly PayloadProgram[] {
    return this.#drafts.map(({ script, root, pieces, variables }) => ({
      ...emitProgram(root, script, pieces),
      variables,
    }));
  }

  /** Null for a function without source of the user's: native functions and those of Node itself. */
  find(fn: object): Found | null {
    const known = this.#found.get(fn);
    if (known !== undefined) return known;
    const live = this.#inspector.describe(fn);
    let result: Found | null = null;
    if (live.location !== null && !this.#inspector.scriptUrl(live.location.scriptId).startsWith("node:")) {
      const script = this.#inspector.script(live.location.scriptId);
      const offset = script.offsetAt(live.location.lineNumber, live.location.columnNumber);
      const site = siteAt(script, offset, Function.prototype.toString.call(fn));
      if (site !== null) result = { script, site, live };
    }
    this.#found.set(fn, result);
    return result;
  }

  encode(fn: object, trail: Trail): ValueNode {
    if (types.isProxy(fn)) throw refuse(this.#operator, trail, "a Proxy", OPEN_INSIDE);
    const place = this.find(fn);
    if (place === null) return this.#encodeForeign(fn, trail);
    const exported = fn === this.#root ? null : this.#exportOf(fn, place);
    if (exported !== null) return this.#importing(exported.request, exported.path);
    return this.#encodeSource(fn, place, trail);
  }

  #importing(request: ModuleRequest, path: readonly string[]): ValueNode {
    return { origin: { kind: "import", module: this.graph.module(request), path } };
  }

  /** Native functions, bound functions, and those of Node's own JavaScript. */
  #encodeForeign(fn: object, trail: Trail): ValueNode {
    const path = builtinPath(fn);
    if (path !== null) return { origin: { kind: "builtin", path } };
    const { bound } = this.#inspector.describe(fn);
    if (bound !== null) {
      const selfAndArgs = emptySlots();
      this.graph.put(selfAndArgs, bound.self, below(trail, "this", null));
      for (const [i, arg] of bound.args.entries()) this.graph.put(selfAndArgs, arg, below(trail, i, null));
      return { origin: { kind: "bound", target: this.graph.node(bound.target as object, trail), selfAndArgs } };
    }
    const [module, ...rest] = builtinModulePath(fn) ?? [];
    if (module !== undefined) return this.#importing(nodeModule(module), rest);
    const name = String(Reflect.get(fn, "name"));
    if (isBuiltinGlobal(name) && Reflect.get(globalThis, name) === fn) {
      return { origin: { kind: "builtin", path: [name] } };
    }
    const what = `a native function${name ? ` (${name})` : ""} that has no name in a worker`;
    throw refuse(this.#operator, trail, what, "Wrap it in a function of your own that obtains it when it runs.");
  }

  /** The name under which another module exports this function: the worker then imports it from there. */
  #exportOf(fn: object, { script, site }: Found): { request: ModuleRequest; path: readonly string[] } | null {
    if (!script.url.startsWith("file:") || isEntry(script.url) || script === this.find(this.#root)?.script) return null;
    if (isRunnersModule(script.url)) return null;
    const request = (form: "import" | "require", specifier: string): ModuleRequest => {
      return { base: script.url, specifier, form, attributes: null, interop: "none" };
    };
    const name = exportedName(script, site);
    if (name !== null) return { request: request("import", script.url), path: [name] };
    const file = pathOf(script.url);
    const exports: unknown = cache[file]?.exports;
    if (exports === fn) return { request: request("require", file), path: [] };
    for (const key of Object.keys(Object(exports))) {
      if (Reflect.get(Object(exports), key) === fn) return { request: request("require", file), path: [key] };
    }
    return null;
  }

  #draftOf(script: Script): number {
    const known = this.#drafts.findIndex((draft) => draft.script === script);
    if (known >= 0) return known;
    const scope = makeInstance(null, null, { description: "Root", variables: {} });
    return this.#drafts.push({ script, root: scope, pieces: [], variables: emptySlots() }) - 1;
  }

  #encodeSource(fn: object, { script, site, live }: Found, trail: Trail): ValueNode {
    const program = this.#draftOf(script);
    const draft = this.#drafts[program] as ProgramDraft;
    const name = nameOf(fn);
    const chain = resolveChain(draft.root, script, site, live.scopes);
    const node = site.node as Class;
    const isClass = site.form === "class";
    const parent = isClass ? parentOf(fn, node) : null;
    const edits = isClass ? classEdits(node, script, parent === null ? null : parentName(script)) : [];
    const subject: Subject = { name, script, site, live, draft, chain, edits, trail };
    const home = settleBorrowed(this.#operator, subject, this.graph, this.#inspector);
    settleVariables(this.#operator, subject, this.graph, this.#namespaces);

    const piece = draft.pieces.push(makePiece(script, site, edits)) - 1;
    home.pieces.push(piece);
    this.#keepPrototype(fn, site, script, trail);
    const keys = isClass ? extraKeys(node, script, fn, true) : ownKeys(fn);
    return {
      origin: {
        kind: "function",
        program,
        piece,
        name,
        isClass,
        parent: parent === null ? null : this.graph.node(parent, below(trail, "extends", null)),
      },
      ...encodeProperties(this.graph, fn, trail, keys),
    };
  }

  /** A prototype that has changed since its source made it becomes a node of its own. */
  #keepPrototype(fn: object, site: FunctionSite, script: Script, trail: Trail): void {
    const prototype: unknown = Object.getOwnPropertyDescriptor(fn, "prototype")?.value;
    if (typeof prototype !== "object" || prototype === null || isGenerator(site)) return;
    const altered = site.form !== "class" && builtinOf(Object.getPrototypeOf(prototype)) !== "Object";
    if (altered || extrasOf(site, script, prototype).length > 0)
      this.graph.node(prototype, below(trail, "prototype", null));
  }
}

/** "" for a function without a name, and for a class with a static member called `name`. */
export function nameOf(fn: object): string {
  const name: unknown = Object.getOwnPropertyDescriptor(fn, "name")?.value;
  return typeof name === "string" ? name : "";
}

function obstacleOf(maker: object, place: Found | null): string | null {
  if (place === null) return `is or extends Node's own ${String(Reflect.get(maker, "name")) || "class"}`;
  return place.site.form === "class" ? privateMembers(place.site.node as Class) : null;
}

function extrasOf(site: FunctionSite, script: Script, prototype: object): readonly (string | symbol)[] {
  if (site.form === "class") return extraKeys(site.node as Class, script, prototype, false);
  return Reflect.ownKeys(prototype).filter((key) => key !== "constructor");
}

/** The class that a class extends at present; null if it extends nothing. */
function parentOf(fn: object, node: Class): object | null {
  const parent: unknown = Object.getPrototypeOf(fn);
  return node.superClass && typeof parent === "function" && Object.hasOwn(parent, "prototype") ? parent : null;
}

function isGenerator(site: FunctionSite): boolean {
  return "generator" in site.node && site.node.generator;
}

function makePiece(script: Script, site: FunctionSite, edits: Edit[]): Piece {
  const { start, end, node } = site;
  const strict = site.inner.isStrict;
  if (site.form === "method") {
    const isAsync = "async" in node && node.async;
    const before = `{${isAsync ? "async " : ""}${isGenerator(site) ? "*" : ""}m`;
    return { script, start, end, edits, strict, before, after: "}.m" };
  }
  // As an expression, a function declaration would see itself under its name, and not the variable, which may have been
  // assigned since.
  const own = node.type === "FunctionDeclaration" && node.id ? site.outer.bindings.get(node.id.name) : undefined;
  if (own?.assigned && node.id) {
    edits.push({ start: node.id.start, end: node.id.end, text: " ".repeat(node.id.end - node.id.start) });
  }
  return { script, start, end, edits, strict, before: "", after: "" };
}

function ownKeys(fn: object): (string | symbol)[] {
  const made = ["length", "name", "prototype", "arguments", "caller"];
  return Reflect.ownKeys(fn).filter((key) => !made.includes(String(key)));
}
