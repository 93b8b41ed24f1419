/**
 * What a function does with its input: which variables stand for the input or for a column of it, which columns may be
 * changed, and whether the input gets out of sight. A row's values are converted to a column's type again whatever was
 * done to their insides; a batch's arrays can be written in place, so for these only plain reading is harmless.
 */
import type { AnyNode, Identifier, ObjectPattern, Pattern } from "acorn";
import { bare, globalMember, type Inside, isCalled, isWritten } from "./inside.ts";
import { type Binding, staticName } from "./lexical.ts";

export type Source =
  /** The input, or what a pattern left of it. */
  | { readonly kind: "input"; readonly without: ReadonlySet<string> }
  | { readonly kind: "column"; readonly name: string };

export interface InputUses {
  readonly sources: ReadonlyMap<Binding, Source>;
  /**
   * Columns that may be changed, or null where any may be. `returned` are the literals and names that turned out to
   * be results: in them the input may stand as it is.
   */
  changed(returned: ReadonlySet<AnyNode>): ReadonlySet<string> | null;
}

/** Methods of arrays and typed arrays that leave them as they are and give no view of them. */
const READING = new Set(
  (
    "at entries every filter find findIndex findLast findLastIndex forEach includes indexOf join keys lastIndexOf map " +
    "reduce reduceRight slice some toReversed toSorted toSpliced toString values with"
  ).split(" "),
);
const COPYING = /^(Array|(Big)?(Int|Uint|Float)\d+(Clamped)?Array)\.(from|isArray)$/;
const READING_ROWS = /^(Object\.(keys|values|entries|hasOwn)|JSON\.stringify|console\.\w+)$/;
const READING_BATCHES = /^Object\.(keys|hasOwn)$/;
/** Constructors that copy what they are given. */
const COPIES = /^(Set|Array|(Big)?(Int|Uint|Float)\d+(Clamped)?Array)$/;

export function inputUses(inside: Inside, parameter: Pattern, isBatch: boolean): InputUses {
  const sources = new Map<Binding, Source>();
  const changed = new Set<string>();
  /** Harmless if that node is a result; else the column is changed (null: any may be). */
  const ifReturned: { readonly node: AnyNode; readonly column: string | null }[] = [];
  const found: Binding[] = [];
  let isLost = false;

  function change(column: string | null): void {
    if (column === null) isLost = true;
    else changed.add(column);
  }

  function addVariable(name: Identifier, source: Source): void {
    const binding = inside.declared.get(name.start);
    if (binding === undefined) return;
    if (!binding.assigned) {
      sources.set(binding, source);
      found.push(binding);
    } else if (source.kind === "input" || isBatch) change(source.kind === "input" ? null : source.name);
  }

  function addPattern(pattern: Pattern, before: ReadonlySet<string>): void {
    if (pattern.type === "Identifier") addVariable(pattern, { kind: "input", without: before });
    else if (pattern.type === "ObjectPattern") addProperties(pattern, before);
    else change(null);
  }

  function addProperties(pattern: ObjectPattern, before: ReadonlySet<string>): void {
    const without = new Set(before);
    for (const property of pattern.properties) {
      if (property.type === "RestElement") {
        if (property.argument.type === "Identifier") addVariable(property.argument, { kind: "input", without });
        continue;
      }
      const name = staticName(property.key, property.computed);
      // What a computed key takes out cannot be told, so nothing can of the rest.
      if (name === null) {
        change(null);
        return;
      }
      if (property.value.type === "Identifier" && !before.has(name)) {
        addVariable(property.value, { kind: "column", name });
      } else if (isBatch) change(name);
      without.add(name);
    }
  }

  function useInput(use: Identifier, without: ReadonlySet<string>): void {
    const around = inside.around(use);
    switch (around.type) {
      case "MemberExpression": {
        if (bare(around.object as AnyNode) !== use) return;
        const name = staticName(around.property as AnyNode, around.computed);
        if (isWritten(inside, around) || isCalled(inside, around)) change(isCalled(inside, around) ? null : name);
        else if (name === null || !without.has(name)) useColumn(around, name);
        return;
      }
      case "SpreadElement": {
        const literal = inside.around(around);
        if (literal.type !== "ObjectExpression") change(null);
        else if (isBatch) ifReturned.push({ node: literal, column: null });
        return;
      }
      case "VariableDeclarator":
        if (around.id.type === "ObjectPattern") addProperties(around.id, without);
        else change(null);
        return;
      case "BinaryExpression":
      case "UnaryExpression":
        return;
      case "CallExpression": {
        const callee = globalMember(inside, around.callee);
        // Copied from, as by a spread.
        if (callee === "Object.assign" && bare(around.arguments[0] ?? around) !== use) {
          if (isBatch) ifReturned.push({ node: use, column: null });
          return;
        }
        if (callee === null || !(isBatch ? READING_BATCHES : READING_ROWS).test(callee)) change(null);
        return;
      }
      default:
        ifReturned.push({ node: use, column: null });
    }
  }

  function useColumn(use: AnyNode, column: string | null): void {
    const around = inside.around(use);
    if (around.type === "VariableDeclarator" && around.id.type === "Identifier" && column !== null) {
      addVariable(around.id, { kind: "column", name: column });
    } else if (isBatch && !isReading(use, around, column)) change(column);
  }

  function isReading(use: AnyNode, around: AnyNode, column: string | null): boolean {
    switch (around.type) {
      case "Property":
        ifReturned.push({ node: inside.around(around), column });
        return true;
      case "MemberExpression": {
        if (bare(around.object as AnyNode) !== bare(use)) return true;
        const name = staticName(around.property as AnyNode, around.computed);
        if (isWritten(inside, around)) return false;
        if (name === null || name === "length" || /^\d+$/.test(name)) return true;
        return READING.has(name) && isCalled(inside, around);
      }
      case "SpreadElement":
        return inside.around(around).type !== "ObjectExpression";
      case "ForOfStatement":
      case "BinaryExpression":
        return true;
      case "UnaryExpression":
        return around.operator !== "delete";
      case "CallExpression":
        return COPYING.test(globalMember(inside, around.callee) ?? "") && around.arguments[0] === use;
      case "NewExpression":
        return (
          around.callee.type === "Identifier" &&
          inside.meaning(around.callee) === null &&
          COPIES.test(around.callee.name)
        );
      default:
        return false;
    }
  }

  addPattern(parameter.type === "AssignmentPattern" ? parameter.left : parameter, new Set());
  for (let binding = found.pop(); binding !== undefined; binding = found.pop()) {
    const source = sources.get(binding);
    for (const use of inside.uses.get(binding) ?? []) {
      if (source?.kind === "input") useInput(use, source.without);
      else if (source?.kind === "column") useColumn(use, source.name);
    }
  }

  return {
    sources,
    changed(returned) {
      for (const { node, column } of ifReturned) if (!returned.has(node)) change(column);
      return isLost ? null : changed;
    },
  };
}
