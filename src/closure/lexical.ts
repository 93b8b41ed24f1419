/**
 * The lexical structure of one script: which name is declared where, what each function refers to outside itself, and
 * which of `this`, `arguments`, `super` it borrows from the code around it (analyse.ts finds these). Knows source text
 * only. V8's live scopes have the values, and decide what a name means.
 */
import type { AnyNode, Class, Function as JsFunction } from "acorn";

export type BindingKind = "var" | "let" | "const" | "function" | "class" | "param" | "catch" | "import" | "self";

export interface Binding {
  readonly name: string;
  readonly kind: BindingKind;
  readonly scope: Scope;
  /** The declarator, declaration or import specifier; for a parameter the function. */
  readonly node: AnyNode;
  readonly start: number;
  /** Written to anywhere except in its declaration. */
  assigned: boolean;
}

export interface Scope {
  /** "field" is a class field's initialiser or a static block, which has a `this` of its own. */
  readonly kind: "program" | "function" | "arrow" | "field" | "block" | "self" | "class";
  readonly start: number;
  readonly end: number;
  readonly parent: Scope | null;
  /** Its code runs in strict mode. */
  readonly isStrict: boolean;
  readonly bindings: Map<string, Binding>;
}

export interface Reference {
  readonly name: string;
  readonly start: number;
  readonly scope: Scope;
  readonly write: boolean;
  /** The member that is read, if nothing else is done with the variable here: `exports.rate`, `ns["rate"]`. */
  readonly member: string | null;
  binding: Binding | null;
}

/** A word whose meaning comes from the surrounding function. */
export interface Borrowed {
  readonly word: "this" | "arguments" | "super" | "new.target" | "import.meta" | "eval" | "private";
  readonly start: number;
  readonly owner: Scope;
}

export interface FunctionSite {
  readonly node: JsFunction | Class;
  readonly form: "function" | "arrow" | "method" | "class";
  /** The property or method definition that contains a method or a field's function. */
  readonly holder: AnyNode | null;
  readonly start: number;
  readonly end: number;
  readonly outer: Scope;
  /** The function's own scope, parameters included. */
  readonly inner: Scope;
}

export interface Lexical {
  readonly program: Scope;
  readonly functions: readonly FunctionSite[];
  /** In order of position. */
  readonly references: readonly Reference[];
  readonly borrowed: readonly Borrowed[];
}

const SKIPPED = new Set(["type", "start", "end", "loc", "range", "sourceType", "raw", "regex"]);

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

export function childrenOf(node: AnyNode): AnyNode[] {
  const children: AnyNode[] = [];
  for (const [key, value] of Object.entries(node)) {
    if (SKIPPED.has(key)) continue;
    if (Array.isArray(value)) {
      for (const item of value) if (isNode(item)) children.push(item);
    } else if (isNode(value)) children.push(value);
  }
  return children;
}

/** The name of a property that is written out: `x.a`, `x["a"]`, `{ a: … }`, `{ "a": … }`; null if it is computed. */
export function staticName(key: AnyNode, computed: boolean): string | null {
  if (key.type === "Identifier" && !computed) return key.name;
  if (key.type === "Literal" && (typeof key.value === "string" || typeof key.value === "number")) {
    return String(key.value);
  }
  return null;
}

function within(outer: { start: number; end: number }, inner: { start: number; end: number }): boolean {
  return inner.start >= outer.start && inner.end <= outer.end;
}

/** References inside the function to names that are declared outside it. */
export function freeReferences(lexical: Lexical, site: FunctionSite): Reference[] {
  const free: Reference[] = [];
  for (let i = firstAt(lexical.references, site.start); i < lexical.references.length; i++) {
    const reference = lexical.references[i];
    if (reference === undefined || reference.start >= site.end) break;
    if (reference.binding === null || !within(site, reference.binding.scope)) free.push(reference);
  }
  return free;
}

/** Words inside the function whose meaning comes from the surrounding function. */
export function borrowedWords(lexical: Lexical, site: FunctionSite): Borrowed[] {
  const start = site.form === "method" && site.holder !== null ? site.holder.start : site.start;
  return lexical.borrowed.filter((use) => {
    if (use.start < start || use.start >= site.end) return false;
    if (use.word === "import.meta" || use.word === "eval") return true;
    // `super` and `#private` of a method refer to its class, which is missing when the method is shipped alone.
    if (use.word === "private") return !classWithin(site, use.owner);
    if (use.word === "super" && use.owner === site.inner) return true;
    return !within(site, use.owner);
  });
}

function classWithin(site: FunctionSite, owner: Scope): boolean {
  for (let at: Scope | null = owner; at !== null && within(site, at); at = at.parent) {
    if (at.kind === "class") return true;
  }
  return false;
}

function firstAt(references: readonly Reference[], position: number): number {
  let low = 0;
  let high = references.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const reference = references[middle];
    if (reference !== undefined && reference.start < position) low = middle + 1;
    else high = middle;
  }
  return low;
}
