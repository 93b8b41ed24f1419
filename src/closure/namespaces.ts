/**
 * Objects that represent a whole module: `exports` of compiled CommonJS, the import objects of vite, namespace objects.
 * A function that reads `exports.rate` must not bring the module's other exports along. So only the members that
 * captured functions name are shipped, with their present values.
 */
import { types } from "node:util";
import type { Graph } from "./graph.ts";
import type { Reference } from "./lexical.ts";
import { type NodeId, ORDINARY, type Properties } from "./payload.ts";
import { appendProperty, emptyProperties } from "./properties.ts";
import { below, type Trail } from "./trail.ts";

interface Namespace {
  readonly value: object;
  node: NodeId | null;
  readonly properties: Properties;
  readonly wanted: Set<string>;
}

export interface Namespaces {
  /** The namespace that a variable contains, with the members that these references add; null if it contains none. */
  use(value: unknown, references: readonly Reference[], isModule: boolean): Namespace | null;
  /** Ships the wanted members that are not shipped yet. */
  extend(graph: Graph, namespace: Namespace, trail: Trail): NodeId;
}

export function namespaceMembers(): Namespaces {
  const known = new Map<object, Namespace>();
  return {
    use(value, references, isModule) {
      if (typeof value !== "object" || value === null || !(isModule || isNamespace(value))) return null;
      const namespace = known.get(value) ?? { value, node: null, properties: emptyProperties(), wanted: new Set() };
      known.set(value, namespace);
      for (const { member } of references) {
        // The object itself is passed on: then all its members must be shipped.
        if (member === null) for (const key of Object.keys(value)) namespace.wanted.add(key);
        else namespace.wanted.add(member);
      }
      return namespace;
    },
    extend(graph, namespace, trail) {
      namespace.node ??= graph.add({ origin: { kind: "object" }, properties: namespace.properties });
      for (const key of namespace.wanted) {
        if (namespace.properties.names.includes(key) || !(key in namespace.value)) continue;
        const value: unknown = Reflect.get(namespace.value, key);
        appendProperty(graph, namespace.properties, key, value, ORDINARY, below(trail, key, null));
      }
      return namespace.node;
    },
  };
}

/** The names that compilers and runners give to variables that contain a module. */
export function namesModule(name: string): boolean {
  return name === "exports" || name.startsWith("__vite_ssr_");
}

function isNamespace(value: object): boolean {
  if (types.isModuleNamespaceObject(value) || Object.getOwnPropertyDescriptor(value, "__esModule")?.value === true) {
    return true;
  }
  return Object.getOwnPropertyDescriptor(value, Symbol.toStringTag)?.value === "Module";
}
