/** Whether an expression inside a function is the input or a part of it, and which part. */
import type { AnyNode, CallExpression } from "acorn";
import { bare, globalMember, type Inside } from "./inside.ts";
import { type Binding, staticName } from "./lexical.ts";
import { givenByMethod, isIndex } from "./row-arrays.ts";

export type Source =
  /** The input, a row of it, or what a pattern left of it. */
  | { readonly kind: "input"; readonly without: ReadonlySet<string> }
  /** An array that contains only rows of the input. */
  | { readonly kind: "inputs" }
  | { readonly kind: "column"; readonly name: string };

const NO_NAMES: ReadonlySet<string> = new Set();

export class Sources {
  readonly #inside: Inside;
  /** What variables stand for. */
  readonly #variables: ReadonlyMap<Binding, Source>;

  constructor(inside: Inside, variables: ReadonlyMap<Binding, Source>) {
    this.#inside = inside;
    this.#variables = variables;
  }

  /** Null: neither the input nor a part of it. */
  of(node: AnyNode): Source | null {
    const at = bare(node);
    if (at.type === "Identifier") {
      const binding = this.#inside.meaning(at);
      return binding === null ? null : (this.#variables.get(binding) ?? null);
    }
    if (at.type === "CallExpression") return this.#ofCall(at);
    if (at.type === "ArrayExpression") {
      const [only, ...others] = at.elements;
      return only?.type === "SpreadElement" && others.length === 0 ? this.array(only.argument) : null;
    }
    if (at.type !== "MemberExpression") return null;
    const held = this.of(at.object as AnyNode);
    if (held?.kind === "inputs") return isIndex(at) ? { kind: "input", without: NO_NAMES } : null;
    const name = staticName(at.property as AnyNode, at.computed);
    if (held?.kind !== "input" || name === null || held.without.has(name)) return null;
    return { kind: "column", name };
  }

  /** Null: not an array that contains only rows of the input. */
  array(node: AnyNode): Source | null {
    const source = this.of(node);
    return source?.kind === "inputs" ? source : null;
  }

  /** A call on an array of the input's rows that returns some of them, or one. */
  #ofCall({ callee, arguments: [first, ...others] }: CallExpression): Source | null {
    if (globalMember(this.#inside, callee) === "Array.from" && first !== undefined && others.length === 0) {
      return this.array(first);
    }
    const method = bare(callee);
    if (method.type !== "MemberExpression") return null;
    const gives = givenByMethod(staticName(method.property as AnyNode, method.computed) ?? "");
    if (gives !== "rows" && gives !== "row") return null;
    const array = this.array(method.object as AnyNode);
    return array === null || gives === "rows" ? array : { kind: "input", without: NO_NAMES };
  }
}
