/**
 * What a function returns, as far as its source shows it: object literals with the input or columns of it inside,
 * arrays of such, local variables that hold one. Follows every return or yield; anything else may be anything.
 */
import type {
  AnyNode,
  ArrayExpression,
  CallExpression,
  Identifier,
  Function as JsFunction,
  ObjectExpression,
} from "acorn";
import type { Source, Takes } from "./input-uses.ts";
import { bare, globalMember, type Inside, isCalled, isWritten } from "./inside.ts";
import { type Binding, childrenOf, staticName } from "./lexical.ts";
import { EMPTY, either, forget, type Proof, put, putInput, type Shape } from "./passed-shape.ts";
import { givenByMethod, isIndex } from "./row-arrays.ts";

/**
 * What one call gives: a row (map), rows (flatMap), a batch of columns or an array of rows (mapBatches). "group" is any of these:
 * what mapGroups gives is columns or a row by the values in it, so only its names can be told; "table" the same of a function whose
 * input is none that can be followed.
 */
export type Gives = "row" | "rows" | "batch" | "row batch" | "group" | "table";

export const TAKES: Readonly<Record<Gives, Takes | null>> = {
  row: "row",
  rows: "row",
  batch: "columns",
  "row batch": "rows",
  group: "columns",
  table: null,
};

const NO_NAMES: ReadonlySet<string> = new Set();
/** Values of a variable that are new arrays. */
const MADE_ROWS = /^(Array|Call|Await)Expression$/;

interface Results {
  readonly proof: Proof;
  /** The literals and names that are results. */
  readonly returned: ReadonlySet<AnyNode>;
}

export function results(inside: Inside, sources: ReadonlyMap<Binding, Source>, gives: Gives): Results {
  const returned = new Set<AnyNode>();
  const locals = { row: new Map<Binding, Proof>(), rows: new Map<Binding, Proof>() };
  /** Uses of local objects and arrays that are harmless if they turn out to be results. */
  const handedOut: Identifier[] = [];

  const sourceOf = (node: AnyNode): Source | null => {
    const at = bare(node);
    if (at.type === "Identifier") {
      const binding = inside.meaning(at);
      return binding === null ? null : (sources.get(binding) ?? null);
    }
    if (at.type === "CallExpression") return ofCall(at);
    if (at.type === "ArrayExpression") {
      const [only, ...others] = at.elements;
      return only?.type === "SpreadElement" && others.length === 0 ? arrayOf(only.argument) : null;
    }
    if (at.type !== "MemberExpression") return null;
    const held = sourceOf(at.object as AnyNode);
    if (held?.kind === "inputs") return isIndex(at) ? { kind: "input", without: NO_NAMES } : null;
    const name = staticName(at.property as AnyNode, at.computed);
    if (held?.kind !== "input" || name === null || held.without.has(name)) return null;
    return { kind: "column", name };
  };

  const arrayOf = (node: AnyNode): Source | null => {
    const source = sourceOf(node);
    return source?.kind === "inputs" ? source : null;
  };

  /** Of an array of the input's rows: some of them, or one. */
  function ofCall({ callee, arguments: [first, ...others] }: CallExpression): Source | null {
    if (globalMember(inside, callee) === "Array.from" && first !== undefined && others.length === 0) {
      return arrayOf(first);
    }
    const method = bare(callee);
    if (method.type !== "MemberExpression") return null;
    const gives = givenByMethod(staticName(method.property as AnyNode, method.computed) ?? "");
    if (gives !== "rows" && gives !== "row") return null;
    const array = arrayOf(method.object as AnyNode);
    return array === null || gives === "rows" ? array : { kind: "input", without: NO_NAMES };
  }

  /** What an expression gives that is to be a row, or a batch. */
  function row(node: AnyNode): Proof {
    const at = bare(node);
    const source = sourceOf(at);
    if (source?.kind === "input") {
      returned.add(at);
      return putInput(EMPTY, source.without);
    }
    switch (at.type) {
      case "ObjectExpression":
        return literal(EMPTY, at);
      case "CallExpression":
        return globalMember(inside, at.callee) === "Object.assign" ? assigned(at) : null;
      case "Identifier":
        returned.add(at);
        if (source !== null) return null;
        return at.name === "undefined" && inside.meaning(at) === null ? "no row" : local(at, "row");
      case "ArrayExpression":
        return at.elements.length === 0 ? "no row" : null;
      default:
        return branches(at, row);
    }
  }

  /** What an expression gives that is to be an array of rows. */
  function rows(node: AnyNode): Proof {
    const at = bare(node);
    if (arrayOf(at) !== null) {
      returned.add(at);
      return putInput(EMPTY, NO_NAMES);
    }
    switch (at.type) {
      case "ArrayExpression":
        return elements(at.elements);
      case "CallExpression":
        return globalMember(inside, at.callee) === "Promise.all" ? promised(at.arguments[0]) : mapped(at);
      case "Identifier":
        returned.add(at);
        return at.name === "undefined" && inside.meaning(at) === null ? "no row" : local(at, "rows");
      default:
        return branches(at, rows);
    }
  }

  function branches(at: AnyNode, follow: (node: AnyNode) => Proof): Proof {
    switch (at.type) {
      case "ConditionalExpression":
        return either(follow(at.consequent), follow(at.alternate));
      case "LogicalExpression":
        // A falsy left side of && is no row.
        return at.operator === "&&" ? follow(at.right) : either(follow(at.left), follow(at.right));
      case "SequenceExpression": {
        const last = at.expressions.at(-1);
        return last === undefined ? null : follow(last);
      }
      case "AwaitExpression":
        return follow(at.argument);
      case "Literal":
        return "no row";
      default:
        return null;
    }
  }

  function elements(nodes: ArrayExpression["elements"]): Proof {
    let proof: Proof = "no row";
    for (const node of nodes) {
      if (node !== null) proof = either(proof, node.type === "SpreadElement" ? rows(node.argument) : row(node));
    }
    return proof;
  }

  /** `….map((x) => row)`, `….flatMap((x) => rows)`, `Array.from(…, (x) => row)`; an array of them filtered or cut. */
  function mapped(call: CallExpression): Proof {
    if (globalMember(inside, call.callee) === "Array.from") return called(call.arguments[1], row);
    const callee = bare(call.callee);
    if (callee.type !== "MemberExpression") return null;
    switch (staticName(callee.property as AnyNode, callee.computed)) {
      case "map":
        return called(call.arguments[0], row);
      case "flatMap":
        return called(call.arguments[0], (node) => (bare(node).type === "ObjectExpression" ? row(node) : rows(node)));
      case "filter":
      case "slice":
        return bare(callee.object as AnyNode).type === "Identifier" ? null : rows(callee.object as AnyNode);
      default:
        return null;
    }
  }

  /** `Promise.all(….map(async (x) => row))`. */
  function promised(node: AnyNode | undefined): Proof {
    const call = node === undefined ? null : bare(node);
    if (call?.type !== "CallExpression") return null;
    const callee = bare(call.callee);
    if (callee.type !== "MemberExpression") return null;
    const isMap = staticName(callee.property as AnyNode, callee.computed) === "map";
    return isMap ? called(call.arguments[0], row, true) : null;
  }

  function called(node: AnyNode | undefined, follow: (node: AnyNode) => Proof, isAwaited = false): Proof {
    const fn = node === undefined ? null : bare(node);
    if (fn?.type !== "ArrowFunctionExpression" && fn?.type !== "FunctionExpression") return null;
    return (fn.async && !isAwaited) || fn.generator ? null : given(fn, follow);
  }

  function assigned({ arguments: [target, ...others] }: CallExpression): Proof {
    const start = target === undefined ? null : bare(target);
    if (start?.type !== "ObjectExpression" && start?.type !== "CallExpression") return null;
    const made = row(start);
    if (made === null || made === "no row") return null;
    return others.reduce<Shape | null>((shape, other) => {
      if (shape === null || other.type === "SpreadElement") return null;
      // The input itself is only read here, as by a spread.
      if (bare(other).type === "Identifier") returned.add(bare(other));
      return spread(shape, other);
    }, made);
  }

  function literal(start: Shape, node: ObjectExpression): Shape | null {
    returned.add(node);
    let shape: Shape | null = start;
    for (const property of node.properties) {
      if (shape === null) return null;
      if (property.type === "SpreadElement") {
        shape = spread(shape, property.argument);
        continue;
      }
      const name = staticName(property.key, property.computed);
      // An accessor runs when the row is read; a prototype brings properties along.
      if (property.kind !== "init" || (name === "__proto__" && !property.computed && !property.shorthand)) return null;
      if (name === null) shape = forget(shape);
      else {
        const source = sourceOf(property.value);
        shape = put(shape, name, source?.kind === "column" ? source.name : null);
      }
    }
    return shape;
  }

  /** The shape after `...node`. */
  function spread(shape: Shape, node: AnyNode): Shape | null {
    const at = bare(node);
    const source = sourceOf(at);
    if (source?.kind === "input") return putInput(shape, source.without);
    switch (at.type) {
      case "ObjectExpression":
        return literal(shape, at);
      case "ConditionalExpression":
        return union(spread(shape, at.consequent), spread(shape, at.alternate));
      case "LogicalExpression":
        return at.operator === "&&" ? union(shape, spread(shape, at.right)) : forget(shape);
      case "Literal":
        return typeof at.value === "string" ? forget(shape) : shape;
      default:
        return forget(shape);
    }
  }

  /** A variable that holds a literal, and what is done to it before it is returned. */
  function local(use: Identifier, kind: "row" | "rows"): Proof {
    const binding = inside.meaning(use);
    if (binding === null || binding.assigned || binding.node.type !== "VariableDeclarator") return null;
    const { init, id } = binding.node;
    if (!init || id.type !== "Identifier" || init.start < inside.node.start || init.end > inside.node.end) return null;
    const known = locals[kind].get(binding);
    if (known !== undefined) return known;
    // A variable within its own value proves nothing.
    locals[kind].set(binding, null);
    const value = bare(init);
    const fits = kind === "rows" ? MADE_ROWS.test(value.type) : value.type !== "Identifier";
    let proof = fits ? (kind === "rows" ? rows(value) : row(value)) : null;
    for (const one of inside.uses.get(binding) ?? []) {
      proof = proof === null ? null : kind === "rows" ? pushed(proof, one) : written(proof, one);
    }
    locals[kind].set(binding, proof);
    return proof;
  }

  function written(proof: Proof, use: Identifier): Proof {
    const around = inside.around(use);
    if (around.type !== "MemberExpression" || bare(around.object as AnyNode) !== use) {
      handedOut.push(use);
      return proof;
    }
    const name = staticName(around.property as AnyNode, around.computed);
    if (!isWritten(inside, around)) return gives === "batch" || isCalled(inside, around) ? null : proof;
    return name === null || proof === null || proof === "no row" ? null : put(proof, name, null);
  }

  function pushed(proof: Proof, use: Identifier): Proof {
    const around = inside.around(use);
    if (around.type !== "MemberExpression" || bare(around.object as AnyNode) !== use) {
      handedOut.push(use);
      return proof;
    }
    const name = staticName(around.property as AnyNode, around.computed);
    if (name === "length" && !isWritten(inside, around)) return proof;
    const call = inside.around(around);
    if (name !== "push" || call.type !== "CallExpression" || bare(call.callee) !== around) return null;
    return either(proof, elements(call.arguments));
  }

  /** What a function gives, over all its returns, or yields. */
  function given(fn: JsFunction, follow: (node: AnyNode) => Proof): Proof {
    if (fn.body.type !== "BlockStatement") return follow(fn.body as AnyNode);
    let proof: Proof = "no row";
    const stack: AnyNode[] = [fn.body as AnyNode];
    for (let at = stack.pop(); at !== undefined && proof !== null; at = stack.pop()) {
      if (at.type === "YieldExpression") {
        if (at.argument) proof = either(proof, at.delegate ? each(at.argument) : follow(at.argument));
      } else if (at.type === "ReturnStatement" && at.argument && !fn.generator) {
        proof = either(proof, follow(at.argument));
      }
      stack.push(...childrenOf(at).filter((child) => !isFunction(child)));
    }
    return proof;
  }

  /** What `yield*` gives one after the other: of a batch function not rows, but batches. */
  function each(node: AnyNode): Proof {
    return gives === "row batch" ? null : rows(node);
  }

  function followed(): (node: AnyNode) => Proof {
    if (gives === "group" || gives === "table") return (at) => rows(at) ?? row(at);
    if (gives === "row batch") return rows;
    return gives === "rows" && !node.generator ? rows : row;
  }

  const { node } = inside;
  const isLoose = node.generator && gives === "row";
  const proof = isLoose ? null : given(node, followed());
  return { proof: handedOut.every((use) => returned.has(use)) ? proof : null, returned };
}

function union(a: Shape | null, b: Shape | null): Shape | null {
  const proof = either(a, b);
  return proof === "no row" ? null : proof;
}

function isFunction(node: AnyNode): boolean {
  return (
    node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression" || node.type === "FunctionDeclaration"
  );
}
