/**
 * The free variables of a function: found in V8's scopes, and shipped once for all functions that share the scope.
 * Imports are named instead of shipped; Node's own globals are left alone.
 */
import { isBuiltinGlobal } from "./builtins.ts";
import type { Graph } from "./graph.ts";
import { type ImportedVariable, importOf, isRepeatable } from "./imports.ts";
import { type Binding, freeReferences, type Reference } from "./lexical.ts";
import { type Namespaces, namesModule } from "./namespaces.ts";
import type { NodeId } from "./payload.ts";
import { showPosition } from "./script.ts";
import { isCut, namedBy, type Subject } from "./subject.ts";
import { refuse } from "./trail.ts";
import { isUninitialised } from "./uninitialised.ts";

export function settleVariables(operator: string, subject: Subject, graph: Graph, namespaces: Namespaces): void {
  const { script, draft, chain } = subject;
  const used = usesByName(subject);
  for (const [name, uses] of used) {
    const [first] = uses;
    const found = lookUp(subject, name);
    const scope = found === null ? undefined : found.level === null ? draft.root : chain[found.level];
    if (first === undefined || found === null || scope === undefined) continue;
    const trail = namedBy(subject, name, first.start);
    if (found.value === undefined && first.binding !== null && isUninitialised(first.binding, script)) {
      const declared = showPosition(script.original(first.binding.start));
      const remedy = `Move its declaration above the call of ${operator}.`;
      throw refuse(operator, trail, `not initialised yet (declared at ${declared})`, remedy);
    }
    const imported = first.binding === null ? null : importOf(first.binding, script);
    const holdsModule = namesModule(name) || (imported !== null && imported.path.length === 0);
    const isImported = imported !== null && isRepeatable(imported.request);
    const namespace = isImported ? null : namespaces.use(found.value, uses, holdsModule);
    if (scope.variables.has(name)) {
      if (namespace !== null) namespaces.extend(graph, namespace, trail);
      continue;
    }
    scope.variables.set(name, draft.variables.values.length);
    const node = namedNode(subject, graph, found.value, name, first.binding, imported, used);
    if (node !== null) graph.link(draft.variables, node);
    else if (namespace !== null) graph.link(draft.variables, namespaces.extend(graph, namespace, trail));
    else graph.put(draft.variables, found.value, trail);
  }
}

function usesByName(subject: Subject): Map<string, Reference[]> {
  const used = new Map<string, Reference[]>();
  for (const reference of freeReferences(subject.script.lexical, subject.site)) {
    if (isCut(subject, reference.start)) continue;
    const uses = used.get(reference.name);
    if (uses === undefined) used.set(reference.name, [reference]);
    else uses.push(reference);
  }
  return used;
}

/** A name's value and the level of its scope (null: the global object); null if it must not be shipped. */
function lookUp(subject: Subject, name: string): { level: number | null; value: unknown } | null {
  const scopes = subject.live.scopes.filter((scope) => scope.description !== "Global");
  const level = scopes.findIndex((scope) => Object.hasOwn(scope.variables, name));
  if (level >= 0) return { level, value: scopes[level]?.variables[name] };
  // The program put it on the global object, as a REPL does.
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, name);
  if (descriptor === undefined || !("value" in descriptor) || isBuiltinGlobal(name)) return null;
  return { level: null, value: descriptor.value };
}

/** The node of a variable that is identified by its origin: an import, or `require` itself. */
function namedNode(
  subject: Subject,
  graph: Graph,
  value: unknown,
  name: string,
  binding: Binding | null,
  imported: ImportedVariable | null,
  used: ReadonlyMap<string, readonly Reference[]>,
): NodeId | null {
  if (isRequire(value)) return graph.add({ origin: { kind: "require", from: subject.script.base } });
  if (binding === null || imported === null || !isRepeatable(imported.request)) return null;
  // A module of which only plain constants are used need not be loaded.
  const others = [...used].filter(([, uses]) => uses[0]?.binding?.node === binding.node).map(([other]) => other);
  if ([...others, name].every((other) => isPrimitive(lookUp(subject, other)?.value))) return null;
  return graph.importNode(imported.request, imported.path, value);
}

/** Node's `require`, or that of a test runner in its place. */
function isRequire(value: unknown): boolean {
  return typeof value === "function" && ["cache", "extensions", "resolve"].every((name) => name in value);
}

function isPrimitive(value: unknown): boolean {
  return (typeof value !== "object" || value === null) && typeof value !== "function";
}
