/**
 * Encodes functions: builtins and exports by name, everything else as a piece of source with the variables that it
 * closes over. Decides what each free name means; what the values are made of is the graph's business.
 */
import { createRequire } from "node:module";
import { types } from "node:util";
import type { Class } from "acorn";
import { builtinModulePath, builtinPath, isBuiltinGlobal } from "./builtins.ts";
import { classEdits, extraKeys, privateMembers } from "./class-source.ts";
import { type Edit, emitProgram, metaName, type Piece, runtimeName, selfName } from "./emit.ts";
import { emptySlots, type FunctionEncoder, type Graph, nodeModule } from "./graph.ts";
import { exportedName, importOf, isEntry, requestsEntry } from "./imports.ts";
import type { Inspector, LiveFunction } from "./inspect.ts";
import { borrowedWords, type FunctionSite, freeReferences, type Reference, within } from "./lexical.ts";
import { namespaceMembers } from "./namespaces.ts";
import type { ModuleRequest, NodeId, PayloadProgram, Slots, ValueNode } from "./payload.ts";
import { encodeProperties } from "./properties.ts";
import { makeInstance, resolveChain, type ScopeInstance } from "./scopes.ts";
import { type Script, showPosition, siteAt } from "./script.ts";
import { lexicalThis } from "./self.ts";
import { pathOf } from "./source-map.ts";
import { below, OPEN_INSIDE, refuse, type Trail } from "./trail.ts";
import { isUninitialised } from "./uninitialised.ts";

export interface Functions extends FunctionEncoder {
  use(graph: Graph): void;
  /** Where the function's source is, or null for one that has none here. */
  find(fn: object): { readonly script: Script; readonly site: FunctionSite; readonly live: LiveFunction } | null;
  /** Ship this one as source, even where a module exports it: it is the function that the user gave. */
  readonly root: object;
  programs(): readonly PayloadProgram[];
}

interface Program {
  readonly script: Script;
  readonly root: ScopeInstance;
  readonly pieces: Piece[];
  readonly variables: Slots;
}

const cache = createRequire(import.meta.url).cache;

export function createFunctions(operator: string, inspector: Inspector, root: object): Functions {
  const programs: Program[] = [];
  const found = new Map<object, ReturnType<Functions["find"]>>();
  const namespaces = namespaceMembers();
  let graph: Graph;

  function find(fn: object): ReturnType<Functions["find"]> {
    const known = found.get(fn);
    if (known !== undefined) return known;
    const live = inspector.describe(fn);
    let result: ReturnType<Functions["find"]> = null;
    if (live.location !== null && !inspector.scriptUrl(live.location.scriptId).startsWith("node:")) {
      const script = inspector.script(live.location.scriptId);
      const offset = script.offsetAt(live.location.lineNumber, live.location.columnNumber);
      const site = siteAt(script, offset, Function.prototype.toString.call(fn));
      if (site !== null) result = { script, site, live };
    }
    found.set(fn, result);
    return result;
  }

  function programOf(script: Script): number {
    const known = programs.findIndex((program) => program.script === script);
    if (known >= 0) return known;
    const scope = makeInstance(null, null, { description: "Root", variables: {} });
    return programs.push({ script, root: scope, pieces: [], variables: emptySlots() }) - 1;
  }

  function encode(fn: object, trail: Trail): ValueNode {
    if (types.isProxy(fn)) throw refuse(operator, trail, "a Proxy", OPEN_INSIDE);
    const path = builtinPath(fn);
    if (path !== null) return { origin: { kind: "builtin", path } };
    const place = find(fn);
    if (place === null) return encodeForeign(fn, trail);
    const exported = fn === root ? null : exportOf(fn, place.script, place.site);
    if (exported !== null) {
      return { origin: { kind: "import", module: moduleOf(exported.request), path: exported.path } };
    }
    return encodeSource(fn, place.script, place.site, place.live, trail);
  }

  function moduleOf(request: ModuleRequest): number {
    const node = graph.nodes[graph.importNode(request, [], null)];
    return node?.origin.kind === "import" ? node.origin.module : -1;
  }

  /** Native functions, bound ones, and those of Node's own JavaScript. */
  function encodeForeign(fn: object, trail: Trail): ValueNode {
    const live = inspector.describe(fn);
    if (live.bound !== null) {
      const selfAndArgs = emptySlots();
      graph.put(selfAndArgs, live.bound.self, below(trail, "this", null));
      for (const [i, arg] of live.bound.args.entries()) graph.put(selfAndArgs, arg, below(trail, i, null));
      return { origin: { kind: "bound", target: graph.node(live.bound.target as object, trail), selfAndArgs } };
    }
    const [module, ...rest] = builtinModulePath(fn) ?? [];
    if (module !== undefined) return { origin: { kind: "import", module: moduleOf(nodeModule(module)), path: rest } };
    const name = String(Reflect.get(fn, "name"));
    if (isBuiltinGlobal(name) && Reflect.get(globalThis, name) === fn)
      return { origin: { kind: "builtin", path: [name] } };
    const what = `a native function${name ? ` (${name})` : ""} that has no name in a worker`;
    throw refuse(operator, trail, what, "Wrap it in a function of your own that gets hold of it when it runs.");
  }

  /** Under which name another module exports this function: then the worker imports it from there. */
  function exportOf(fn: object, script: Script, site: FunctionSite): { request: ModuleRequest; path: string[] } | null {
    if (!script.url.startsWith("file:") || isEntry(script.url) || script === find(root)?.script) return null;
    const request = (form: "import" | "require", specifier: string): ModuleRequest => ({
      base: script.url,
      specifier,
      form,
      attributes: null,
      interop: "none",
    });
    const name = exportedName(script, site);
    if (name !== null) return { request: request("import", script.url), path: [name] };
    const file = pathOf(script.url);
    const exports: unknown = cache[file]?.exports;
    if (exports === fn) return { request: request("require", file), path: [] };
    for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(Object(exports)))) {
      const value: unknown = descriptor.get === undefined ? descriptor.value : Reflect.get(Object(exports), key);
      if (value === fn) return { request: request("require", file), path: [key] };
    }
    return null;
  }

  function encodeSource(fn: object, script: Script, site: FunctionSite, live: LiveFunction, trail: Trail): ValueNode {
    const index = programOf(script);
    const program = programs[index] as Program;
    const name = String(Object.getOwnPropertyDescriptor(fn, "name")?.value ?? "");
    const chain = resolveChain(program.root, script, site, live.scopes);
    const parent = site.form === "class" ? parentOf(fn, site) : null;
    const edits =
      site.form === "class" ? classEdits(site.node as Class, script, parent && `${runtimeName(script)}Parent`) : [];
    const home = settleBorrowed(script, site, program, chain[0] ?? program.root, edits, name, trail);
    settleVariables(script, site, live, program, chain, edits, name || showTrailName(trail));

    const piece = program.pieces.push(makePiece(script, site, edits)) - 1;
    home.pieces.push(piece);
    const keys = site.form === "class" ? extraKeys(site.node as Class, script, fn, true) : ownKeys(fn);
    const parentId = parent === null ? null : graph.node(parent, below(trail, "extends", null));
    keepPrototype(fn, site, script, trail);
    return {
      origin: { kind: "function", program: index, piece, name, isClass: site.form === "class", parent: parentId },
      ...encodeProperties(graph, fn, trail, keys),
    };
  }

  /** A prototype that the source does not make as it is now becomes a node of its own. */
  function keepPrototype(fn: object, site: FunctionSite, script: Script, trail: Trail): void {
    if (site.form !== "class" && site.form !== "function") return;
    const prototype: unknown = Object.getOwnPropertyDescriptor(fn, "prototype")?.value;
    if (typeof prototype !== "object" || prototype === null) return;
    if (site.form === "function" && (site.node as { generator?: boolean }).generator) return;
    const altered = site.form === "function" && Object.getPrototypeOf(prototype) !== Object.prototype;
    if (altered || extrasOf(site, script, prototype).length > 0) graph.node(prototype, below(trail, "prototype", null));
  }

  function settleBorrowed(
    script: Script,
    site: FunctionSite,
    program: Program,
    scope: ScopeInstance,
    edits: Edit[],
    name: string,
    trail: Trail,
  ): ScopeInstance {
    const words = borrowedWords(script.lexical, site).filter((use) => !isCut(edits, use.start));
    for (const use of words) {
      if (use.word === "import.meta") edits.push({ start: use.start, end: use.start + 6, text: metaName(script) });
    }
    const self = words.filter((use) => use.word === "this" && use.owner.kind !== "program");
    const other = words.find((use) => use.word !== "this" && use.word !== "import.meta" && use.word !== "eval");
    if (other !== undefined) {
      const word = other.word === "private" ? "a #private member" : other.word;
      const step = {
        ...trail,
        name: word,
        within: null,
        where: showPosition(script.original(other.start)),
        user: name,
      };
      const what = `${other.word === "private" ? "part" : "a word"} of the ${word === "arguments" ? "function" : "class"} around it`;
      throw refuse(
        operator,
        step,
        what,
        "Give the function what it needs as a constant, or wrap it: row => object.method(row).",
      );
    }
    const first = self[0];
    if (first === undefined) return scope;
    const step: Trail = {
      ...trail,
      name: "this",
      within: null,
      holder: null,
      where: showPosition(script.original(first.start)),
      user: name,
    };
    const value = lexicalThis(inspector, script, first.owner, trail.holder);
    if (value === null) {
      const remedy =
        "Copy what it needs to a constant before (const rate = this.rate), or wrap it: row => object.method(row).";
      throw refuse(operator, step, "the object of a method that is not running now", remedy);
    }
    for (const use of self) edits.push({ start: use.start, end: use.start + 4, text: selfName(script) });
    const live = { description: "This", variables: { this: value.self } };
    const same = scope.children.find(
      (one) => one.live.description === "This" && one.live.variables.this === value.self,
    );
    const inner = same ?? makeInstance(scope, null, live);
    if (same === undefined) {
      inner.variables.set(selfName(script), program.variables.values.length);
      graph.put(program.variables, value.self, step);
    }
    return inner;
  }

  function settleVariables(
    script: Script,
    site: FunctionSite,
    live: LiveFunction,
    program: Program,
    chain: readonly ScopeInstance[],
    edits: readonly Edit[],
    user: string,
  ): void {
    const byName = new Map<string, Reference[]>();
    for (const reference of freeReferences(script.lexical, site)) {
      if (isCut(edits, reference.start)) continue;
      const list = byName.get(reference.name);
      if (list === undefined) byName.set(reference.name, [reference]);
      else list.push(reference);
    }
    const scopes = live.scopes.filter((scope) => scope.description !== "Global");
    for (const [name, references] of byName) {
      const level = scopes.findIndex((scope) => Object.hasOwn(scope.variables, name));
      const instance = level < 0 ? program.root : chain[level];
      const isShipped = level >= 0 || isUserGlobal(name);
      const first = references[0];
      if (!isShipped || instance === undefined || first === undefined) continue;
      const value = level >= 0 ? scopes[level]?.variables[name] : Reflect.get(globalThis, name);
      const trail: Trail = {
        name,
        within: null,
        holder: null,
        where: showPosition(script.original(first.start)),
        user,
      };
      if (value === undefined && first.binding !== null && isUninitialised(first.binding, script)) {
        throw refuse(
          operator,
          trail,
          `not initialised yet (${showPosition(script.original(first.binding.start))})`,
          `Move its declaration above the call of ${operator}.`,
        );
      }
      const namespace = namespaces.use(value, name, references);
      if (instance.variables.has(name)) {
        if (namespace !== null) namespaces.extend(graph, namespace, trail);
        continue;
      }
      instance.variables.set(name, program.variables.values.length);
      const node = namedNode(value, name, first, references, script, scopes, byName);
      if (node !== null) graph.link(program.variables, node);
      else if (namespace !== null) graph.link(program.variables, namespaces.extend(graph, namespace, trail));
      else graph.put(program.variables, value, trail);
    }
  }

  /** The node of a variable that is known by where it came from: an import, or `require` itself. */
  function namedNode(
    value: unknown,
    name: string,
    first: Reference,
    references: readonly Reference[],
    script: Script,
    scopes: LiveFunction["scopes"],
    all: ReadonlyMap<string, readonly Reference[]>,
  ): NodeId | null {
    if (isRequire(value) && references.length > 0) return graph.add({ origin: { kind: "require", from: script.url } });
    const binding = first.binding;
    const imported = binding === null ? null : importOf(binding, script);
    if (binding === null || imported === null || requestsEntry(imported.request)) return null;
    // A module of which only plain constants are used need not be loaded for them.
    const siblings = [...all].filter(([, uses]) => uses[0]?.binding?.node === binding.node).map(([other]) => other);
    const current = (other: string) => scopes.find((scope) => Object.hasOwn(scope.variables, other))?.variables[other];
    if ([...siblings, name].every((other) => isPrimitive(current(other)))) return null;
    return graph.importNode(imported.request, imported.path, value);
  }

  function extrasOf(site: FunctionSite, script: Script, prototype: object): readonly (string | symbol)[] {
    if (site.form === "class") return extraKeys(site.node as Class, script, prototype, false);
    return Reflect.ownKeys(prototype).filter((key) => key !== "constructor");
  }

  return {
    root,
    use(given) {
      graph = given;
    },
    find,
    encode,
    obstacle(maker) {
      const place = find(maker);
      if (place === null) return `is or extends Node's own ${String(Reflect.get(maker, "name")) || "class"}`;
      return place.site.form === "class" ? privateMembers(place.site.node as Class) : null;
    },
    prototypeExtras(maker, prototype) {
      const place = find(maker);
      return place === null ? [] : extrasOf(place.site, place.script, prototype);
    },
    programs: () =>
      programs.map(({ script, root: scope, pieces, variables }) => ({
        ...emitProgram(scope, script, isStrict(script), pieces),
        variables,
      })),
  };
}

function showTrailName(trail: Trail): string {
  return trail.within === null ? trail.name : trail.name.replace(/^\./, "");
}

/** The class that a class extends, as it is now; null where it extends nothing. */
function parentOf(fn: object, site: FunctionSite): object | null {
  const parent: unknown = Object.getPrototypeOf(fn);
  return (site.node as Class).superClass && typeof parent === "function" && parent !== Function.prototype
    ? parent
    : null;
}

function makePiece(script: Script, site: FunctionSite, edits: Edit[]): Piece {
  const { start, end, strict } = site;
  const node = site.node as {
    async?: boolean;
    generator?: boolean;
    type: string;
    id?: { start: number; end: number; name: string } | null;
  };
  if (site.form === "method") {
    const before = `{${node.async ? "async " : ""}${node.generator ? "*" : ""}m`;
    return { script, start, end, edits, strict, before, after: "}.m" };
  }
  // As an expression, a declaration would see its own name as itself, not as the variable that may be assigned since.
  const own = node.type === "FunctionDeclaration" && node.id ? site.outer.bindings.get(node.id.name) : undefined;
  if (own?.assigned && node.id)
    edits.push({ start: node.id.start, end: node.id.end, text: "".padEnd(node.id.end - node.id.start) });
  return { script, start, end, edits, strict, before: "", after: "" };
}

function isCut(edits: readonly Edit[], position: number): boolean {
  return edits.some((edit) => within(edit, { start: position, end: position }) && position < edit.end);
}

function isStrict(script: Script): boolean {
  return (
    script.isModule ||
    script.ast.body.some((one) => one.type === "ExpressionStatement" && one.directive === "use strict")
  );
}

/** Put on the global object by the program, a REPL say, and not a native function of whatever runs us. */
function isUserGlobal(name: string): boolean {
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, name);
  return descriptor !== undefined && "value" in descriptor && !isBuiltinGlobal(name);
}

function isRequire(value: unknown): boolean {
  return typeof value === "function" && Reflect.get(value, "cache") === cache && "resolve" in value;
}

function isPrimitive(value: unknown): boolean {
  return (typeof value !== "object" || value === null) && typeof value !== "function";
}

function ownKeys(fn: object): (string | symbol)[] {
  const made = ["length", "name", "prototype", "arguments", "caller"];
  return Reflect.ownKeys(fn).filter((key) => !made.includes(String(key)));
}
