/**
 * What a function returns, as far as its source shows: object literals that contain the input or columns of it, arrays
 * of such literals, local variables with one. Follows every return and yield. Any other expression may be anything.
 */
import type {
  AnyNode,
  ArrayExpression,
  CallExpression,
  Identifier,
  Function as JsFunction,
  ObjectExpression,
} from "acorn";
import type { Takes } from "./input-uses.ts";
import { bare, globalMember, type Inside, isCalled, isWritten } from "./inside.ts";
import { type Binding, childrenOf, staticName } from "./lexical.ts";
import { EMPTY, either, forget, type Proof, put, putInput, type Shape } from "./passed-shape.ts";
import { type Source, Sources } from "./sources.ts";

/**
 * The form of what one call returns: a row (map), rows (flatMap), a batch of columns or an array of rows (mapBatches).
 * "group" is any of these: whether a result of mapGroups is columns or a row depends on its values, so only its names
 * can be found. "table" is the same for a function whose input cannot be followed.
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

/** Initial values of a variable that are new arrays. */
const MADE_ROWS = /^(Array|Call|Await)Expression$/;

interface Results {
  readonly proof: Proof;
  /** The literals and names that are results. */
  readonly returned: ReadonlySet<AnyNode>;
}

export function results(inside: Inside, sources: ReadonlyMap<Binding, Source>, gives: Gives): Results {
  return new Following(inside, new Sources(inside, sources), gives).results();
}

class Following {
  readonly #inside: Inside;
  readonly #sources: Sources;
  readonly #gives: Gives;
  readonly #returned = new Set<AnyNode>();
  /** What is known about local variables that contain a row, or rows. */
  readonly #locals = { row: new Map<Binding, Proof>(), rows: new Map<Binding, Proof>() };
  /** Uses of local objects and arrays that are harmless if they turn out to be results. */
  readonly #handedOut: Identifier[] = [];

  constructor(inside: Inside, sources: Sources, gives: Gives) {
    this.#inside = inside;
    this.#sources = sources;
    this.#gives = gives;
  }

  results(): Results {
    const { node } = this.#inside;
    const isLoose = node.generator && this.#gives === "row";
    const proof = isLoose ? null : this.#given(node, this.#followed());
    const isProven = this.#handedOut.every((use) => this.#returned.has(use));
    return { proof: isProven ? proof : null, returned: this.#returned };
  }

  /** What is known about an expression whose value is a row or a batch. */
  readonly #row = (node: AnyNode): Proof => {
    const at = bare(node);
    const source = this.#sources.of(at);
    if (source?.kind === "input") {
      this.#returned.add(at);
      return putInput(EMPTY, source.without);
    }
    switch (at.type) {
      case "ObjectExpression":
        return this.#literal(EMPTY, at);
      case "CallExpression":
        return globalMember(this.#inside, at.callee) === "Object.assign" ? this.#assigned(at) : null;
      case "Identifier":
        this.#returned.add(at);
        if (source !== null) return null;
        return at.name === "undefined" && this.#inside.meaning(at) === null ? "no row" : this.#local(at, "row");
      case "ArrayExpression":
        return at.elements.length === 0 ? "no row" : null;
      default:
        return this.#branches(at, this.#row);
    }
  };

  /** What is known about an expression whose value is an array of rows. */
  readonly #rows = (node: AnyNode): Proof => {
    const at = bare(node);
    if (this.#sources.array(at) !== null) {
      this.#returned.add(at);
      return putInput(EMPTY, new Set());
    }
    switch (at.type) {
      case "ArrayExpression":
        return this.#elements(at.elements);
      case "CallExpression":
        return globalMember(this.#inside, at.callee) === "Promise.all"
          ? this.#promised(at.arguments[0])
          : this.#mapped(at);
      case "Identifier":
        this.#returned.add(at);
        return at.name === "undefined" && this.#inside.meaning(at) === null ? "no row" : this.#local(at, "rows");
      default:
        return this.#branches(at, this.#rows);
    }
  };

  #branches(at: AnyNode, follow: (node: AnyNode) => Proof): Proof {
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

  #elements(nodes: ArrayExpression["elements"]): Proof {
    let proof: Proof = "no row";
    for (const node of nodes) {
      if (node !== null)
        proof = either(proof, node.type === "SpreadElement" ? this.#rows(node.argument) : this.#row(node));
    }
    return proof;
  }

  /**
   * `….map((x) => row)`, `….flatMap((x) => rows)`, `Array.from(…, (x) => row)`; also such an array filtered or sliced.
   */
  #mapped(call: CallExpression): Proof {
    if (globalMember(this.#inside, call.callee) === "Array.from") return this.#called(call.arguments[1], this.#row);
    const callee = bare(call.callee);
    if (callee.type !== "MemberExpression") return null;
    switch (staticName(callee.property as AnyNode, callee.computed)) {
      case "map":
        return this.#called(call.arguments[0], this.#row);
      case "flatMap":
        return this.#called(call.arguments[0], (node) =>
          bare(node).type === "ObjectExpression" ? this.#row(node) : this.#rows(node),
        );
      case "filter":
      case "slice":
        return bare(callee.object as AnyNode).type === "Identifier" ? null : this.#rows(callee.object as AnyNode);
      default:
        return null;
    }
  }

  /** `Promise.all(….map(async (x) => row))`. */
  #promised(node: AnyNode | undefined): Proof {
    const call = node === undefined ? null : bare(node);
    if (call?.type !== "CallExpression") return null;
    const callee = bare(call.callee);
    if (callee.type !== "MemberExpression") return null;
    const isMap = staticName(callee.property as AnyNode, callee.computed) === "map";
    return isMap ? this.#called(call.arguments[0], this.#row, true) : null;
  }

  #called(node: AnyNode | undefined, follow: (node: AnyNode) => Proof, isAwaited = false): Proof {
    const fn = node === undefined ? null : bare(node);
    if (fn?.type !== "ArrowFunctionExpression" && fn?.type !== "FunctionExpression") return null;
    return (fn.async && !isAwaited) || fn.generator ? null : this.#given(fn, follow);
  }

  #assigned({ arguments: [target, ...others] }: CallExpression): Proof {
    const start = target === undefined ? null : bare(target);
    if (start?.type !== "ObjectExpression" && start?.type !== "CallExpression") return null;
    const made = this.#row(start);
    if (made === null || made === "no row") return null;
    return others.reduce<Shape | null>((shape, other) => {
      if (shape === null || other.type === "SpreadElement") return null;
      // The input itself is only read here, as by a spread.
      if (bare(other).type === "Identifier") this.#returned.add(bare(other));
      return this.#spread(shape, other);
    }, made);
  }

  #literal(start: Shape, node: ObjectExpression): Shape | null {
    this.#returned.add(node);
    let shape: Shape | null = start;
    for (const property of node.properties) {
      if (shape === null) return null;
      if (property.type === "SpreadElement") {
        shape = this.#spread(shape, property.argument);
        continue;
      }
      const name = staticName(property.key, property.computed);
      // An accessor runs when the row is read, and a prototype brings properties along.
      if (property.kind !== "init" || (name === "__proto__" && !property.computed && !property.shorthand)) return null;
      if (name === null) shape = forget(shape);
      else {
        const source = this.#sources.of(property.value);
        shape = put(shape, name, source?.kind === "column" ? source.name : null);
      }
    }
    return shape;
  }

  /** The shape after `...node`. */
  #spread(shape: Shape, node: AnyNode): Shape | null {
    const at = bare(node);
    const source = this.#sources.of(at);
    if (source?.kind === "input") return putInput(shape, source.without);
    switch (at.type) {
      case "ObjectExpression":
        return this.#literal(shape, at);
      case "ConditionalExpression":
        return union(this.#spread(shape, at.consequent), this.#spread(shape, at.alternate));
      case "LogicalExpression":
        return at.operator === "&&" ? union(shape, this.#spread(shape, at.right)) : forget(shape);
      case "Literal":
        return typeof at.value === "string" ? forget(shape) : shape;
      default:
        return forget(shape);
    }
  }

  /** A variable that contains a literal, and what is done to it before it is returned. */
  #local(use: Identifier, kind: "row" | "rows"): Proof {
    const binding = this.#inside.meaning(use);
    if (binding === null || binding.assigned || binding.node.type !== "VariableDeclarator") return null;
    const { init, id } = binding.node;
    if (!init || id.type !== "Identifier" || init.start < this.#inside.node.start || init.end > this.#inside.node.end)
      return null;
    const known = this.#locals[kind].get(binding);
    if (known !== undefined) return known;
    // A variable inside its own value proves nothing.
    this.#locals[kind].set(binding, null);
    const value = bare(init);
    const fits = kind === "rows" ? MADE_ROWS.test(value.type) : value.type !== "Identifier";
    let proof = fits ? (kind === "rows" ? this.#rows(value) : this.#row(value)) : null;
    for (const one of this.#inside.uses.get(binding) ?? []) {
      proof = proof === null ? null : kind === "rows" ? this.#pushed(proof, one) : this.#written(proof, one);
    }
    this.#locals[kind].set(binding, proof);
    return proof;
  }

  #written(proof: Proof, use: Identifier): Proof {
    const around = this.#inside.around(use);
    if (around.type !== "MemberExpression" || bare(around.object as AnyNode) !== use) {
      this.#handedOut.push(use);
      return proof;
    }
    const name = staticName(around.property as AnyNode, around.computed);
    if (!isWritten(this.#inside, around))
      return this.#gives === "batch" || isCalled(this.#inside, around) ? null : proof;
    return name === null || proof === null || proof === "no row" ? null : put(proof, name, null);
  }

  #pushed(proof: Proof, use: Identifier): Proof {
    const around = this.#inside.around(use);
    if (around.type !== "MemberExpression" || bare(around.object as AnyNode) !== use) {
      this.#handedOut.push(use);
      return proof;
    }
    const name = staticName(around.property as AnyNode, around.computed);
    if (name === "length" && !isWritten(this.#inside, around)) return proof;
    const call = this.#inside.around(around);
    if (name !== "push" || call.type !== "CallExpression" || bare(call.callee) !== around) return null;
    return either(proof, this.#elements(call.arguments));
  }

  /** What a function returns, over all its returns or yields. */
  #given(fn: JsFunction, follow: (node: AnyNode) => Proof): Proof {
    if (fn.body.type !== "BlockStatement") return follow(fn.body as AnyNode);
    let proof: Proof = "no row";
    const stack: AnyNode[] = [fn.body as AnyNode];
    for (let at = stack.pop(); at !== undefined && proof !== null; at = stack.pop()) {
      if (at.type === "YieldExpression") {
        if (at.argument) proof = either(proof, at.delegate ? this.#each(at.argument) : follow(at.argument));
      } else if (at.type === "ReturnStatement" && at.argument && !fn.generator) {
        proof = either(proof, follow(at.argument));
      }
      stack.push(...childrenOf(at).filter((child) => !isFunction(child)));
    }
    return proof;
  }

  /** What `yield*` gives one after the other: for a batch function these are batches, not rows. */
  #each(node: AnyNode): Proof {
    return this.#gives === "row batch" ? null : this.#rows(node);
  }

  #followed(): (node: AnyNode) => Proof {
    if (this.#gives === "group" || this.#gives === "table") return (at) => this.#rows(at) ?? this.#row(at);
    if (this.#gives === "row batch") return this.#rows;
    return this.#gives === "rows" && !this.#inside.node.generator ? this.#rows : this.#row;
  }
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
