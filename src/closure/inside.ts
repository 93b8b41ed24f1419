/** The inside of one function: what surrounds each expression, and what each name in it means. */
import type { AnyNode, Expression, Identifier, Function as JsFunction } from "acorn";
import { type Binding, childrenOf, type FunctionSite, type Lexical, staticName } from "./lexical.ts";

export interface Inside {
  readonly node: JsFunction;
  /** Uses of names, by their meaning. */
  readonly uses: ReadonlyMap<Binding, readonly Identifier[]>;
  /** Variables that are used, by the position of their declaration. */
  readonly declared: ReadonlyMap<number, Binding>;
  /** What a name means; null for a global, which is declared nowhere. */
  meaning(use: Identifier): Binding | null;
  /** The node around an expression, ignoring parentheses and the wrapping of `?.`. */
  around(node: AnyNode): AnyNode;
}

/** Null if values can be reached without their names: `with`, `eval`, `arguments`. */
export function lookInside(lexical: Lexical, site: FunctionSite): Inside | null {
  if (site.form === "class" || reachesArguments(lexical, site)) return null;
  const node = site.node as JsFunction;
  const meanings = new Map<number, Binding | null>();
  for (const { start, binding } of lexical.references) {
    if (start >= site.start && start < site.end) meanings.set(start, binding);
  }
  const parents = new Map<AnyNode, AnyNode>();
  const uses = new Map<Binding, Identifier[]>();
  const declared = new Map<number, Binding>();
  const stack: AnyNode[] = [node as AnyNode];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (at.type === "WithStatement") return null;
    if (at.type === "Identifier") {
      const binding = meanings.get(at.start);
      if (binding) {
        declared.set(binding.start, binding);
        const known = uses.get(binding);
        if (known === undefined) uses.set(binding, [at]);
        else known.push(at);
      }
    }
    for (const child of childrenOf(at)) {
      // In `{ a }` the key is the same text as the value, but it is no use of the variable.
      if (at.type === "Property" && !at.computed && child === at.key) continue;
      parents.set(child, at);
      stack.push(child);
    }
  }
  return {
    node,
    uses,
    declared,
    meaning: (use) => meanings.get(use.start) ?? null,
    around(inner) {
      let at = parents.get(inner) ?? inner;
      while (isWrapping(at)) at = parents.get(at) ?? at;
      return at;
    },
  };
}

/** Whether the function can reach its arguments without naming them. */
export function reachesArguments(lexical: Lexical, site: FunctionSite): boolean {
  const isInside = ({ start }: { start: number }): boolean => start >= site.start && start < site.end;
  return (
    lexical.borrowed.some(
      (use) => isInside(use) && (use.word === "eval" || (use.word === "arguments" && use.owner === site.inner)),
    ) || lexical.references.some((use) => use.name === "arguments" && isInside(use))
  );
}

function isWrapping(node: AnyNode): node is AnyNode & { type: "ParenthesizedExpression" | "ChainExpression" } {
  return node.type === "ParenthesizedExpression" || node.type === "ChainExpression";
}

/** The expression without parentheses and the wrapping of `?.`. */
export function bare(node: AnyNode): AnyNode {
  let at = node;
  while (isWrapping(at)) at = at.expression;
  return at;
}

/** "Object.keys" for `Object.keys`, if `Object` is the global one. */
export function globalMember(inside: Inside, callee: AnyNode): string | null {
  const node = bare(callee);
  if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return null;
  if (inside.meaning(node.object) !== null) return null;
  const name = staticName(node.property as AnyNode, node.computed);
  return name === null ? null : `${node.object.name}.${name}`;
}

/** Whether the member expression is written to, or deleted. */
export function isWritten(inside: Inside, member: AnyNode): boolean {
  const around = inside.around(member);
  const isIt = (node: Expression | AnyNode | null | undefined): boolean => !!node && bare(node) === bare(member);
  switch (around.type) {
    case "AssignmentExpression":
    case "AssignmentPattern":
    case "ForInStatement":
    case "ForOfStatement":
      return isIt(around.left);
    case "UpdateExpression":
    case "ArrayPattern":
    case "RestElement":
      return true;
    case "UnaryExpression":
      return around.operator === "delete";
    case "Property":
      return isIt(around.value) && inside.around(around).type === "ObjectPattern";
    default:
      return false;
  }
}

/** A method gets the object it is called on as `this`; so does the tag of a template. */
export function isCalled(inside: Inside, member: AnyNode): boolean {
  const around = inside.around(member);
  if (around.type === "CallExpression") return bare(around.callee) === bare(member);
  return around.type === "TaggedTemplateExpression" && bare(around.tag) === bare(member);
}
