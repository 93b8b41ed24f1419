/**
 * Which columns a row or batch function reads, if its source proves it: a reader can then leave the others out. Nothing
 * is proved if the parameter is passed on, spread, returned, or indexed by a variable.
 */
import type { AnyNode, Identifier, Function as JsFunction, Pattern } from "acorn";
import { reachesArguments } from "./inside.ts";
import { childrenOf, type FunctionSite, type Lexical, staticName } from "./lexical.ts";

export function columnsRead(lexical: Lexical, site: FunctionSite): readonly string[] | null {
  if (site.form === "class") return null;
  const node = site.node as JsFunction;
  if (reachesArguments(lexical, site)) return null;
  const first = node.params[0];
  if (first === undefined) return [];
  const columns = new Set<string>();
  const target = first.type === "AssignmentPattern" ? first.left : first;
  if (target.type === "ObjectPattern") return namesOf(target, columns) ? [...columns].sort() : null;
  if (target.type !== "Identifier") return null;
  const binding = site.inner.bindings.get(target.name);
  if (binding === undefined || binding.assigned) return null;
  const uses = new Set(
    lexical.references.filter((reference) => reference.binding === binding).map((reference) => reference.start),
  );
  return readsOnly(node as AnyNode, uses, columns) ? [...columns].sort() : null;
}

/** Collects the properties that a pattern takes; false if it may take others. */
function namesOf(pattern: Pattern, columns: Set<string>): boolean {
  if (pattern.type !== "ObjectPattern") return false;
  return pattern.properties.every((property) => {
    if (property.type !== "Property") return false;
    const name = staticName(property.key, property.computed);
    if (name !== null) columns.add(name);
    return name !== null;
  });
}

function readsOnly(root: AnyNode, uses: ReadonlySet<number>, columns: Set<string>): boolean {
  const isUse = (node: AnyNode | null | undefined): node is Identifier =>
    node?.type === "Identifier" && uses.has(node.start);
  const stack: AnyNode[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.type === "WithStatement") return false;
    if (isUse(node)) return false;
    if (node.type === "MemberExpression" && isUse(node.object as AnyNode)) {
      const name = staticName(node.property as AnyNode, node.computed);
      if (name === null) return false;
      columns.add(name);
      continue;
    }
    // A method of the row would get the whole row as `this`. Deleting from the row, or writing to it, has effects
    // later.
    if (node.type === "CallExpression" && isMemberOfUse(node.callee as AnyNode, isUse)) return false;
    if (node.type === "TaggedTemplateExpression" && isMemberOfUse(node.tag, isUse)) return false;
    if (node.type === "VariableDeclarator" && isUse(node.init)) {
      if (!namesOf(node.id, columns)) return false;
      stack.push(...childrenOf(node.id));
      continue;
    }
    stack.push(...childrenOf(node));
  }
  return true;
}

function isMemberOfUse(node: AnyNode, isUse: (node: AnyNode) => boolean): boolean {
  if (node.type === "ChainExpression" || node.type === "ParenthesizedExpression") {
    return isMemberOfUse(node.expression as AnyNode, isUse);
  }
  return node.type === "MemberExpression" && isUse(node.object as AnyNode);
}
