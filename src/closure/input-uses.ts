/**
 * What a function does with its input: which variables stand for the input or for a column of it, which columns may be
 * changed, and whether the input gets out of sight. A row's values are converted to a column's type again whatever was
 * done to their insides; a batch's arrays can be written in place, so for these only plain reading is harmless.
 */
import type { AnyNode, CallExpression, Identifier, MemberExpression, ObjectPattern, Pattern } from "acorn";
import { bare, globalMember, type Inside, isCalled, isWritten } from "./inside.ts";
import { type Binding, staticName } from "./lexical.ts";
import { callbackRows, givenByMethod, isIndex } from "./row-arrays.ts";

export type Source =
  /** The input, a row of it, or what a pattern left of that. */
  | { readonly kind: "input"; readonly without: ReadonlySet<string> }
  /** An array of nothing but rows of the input. */
  | { readonly kind: "inputs" }
  | { readonly kind: "column"; readonly name: string };

/** What a function is given: a row, a batch of columns, an array of rows. */
export type Takes = "row" | "columns" | "rows";

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
const READING_ARRAYS = /^(Object\.keys|Array\.isArray|JSON\.stringify|console\.\w+)$/;
/** Constructors that copy what they are given. */
const COPIES = /^(Set|Array|(Big)?(Int|Uint|Float)\d+(Clamped)?Array)$/;
const NO_NAMES: ReadonlySet<string> = new Set();

export function inputUses(inside: Inside, parameter: Pattern, takes: Takes): InputUses {
  const isBatch = takes === "columns";
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
    } else if (source.kind !== "column" || isBatch) change(source.kind === "column" ? source.name : null);
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

  /** Variables of rows, or of arrays of them. */
  function addRows(pattern: Pattern): void {
    if (pattern.type === "Identifier") addVariable(pattern, { kind: "inputs" });
    else if (pattern.type !== "ArrayPattern") change(null);
    else {
      for (const element of pattern.elements) {
        if (element?.type === "RestElement") addRows(element.argument);
        else if (element !== null) addPattern(element, NO_NAMES);
      }
    }
  }

  function useInput(use: AnyNode, without: ReadonlySet<string>): void {
    const around = inside.around(use);
    if (isLookedAt(use, around)) return;
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
        // Another name of the input; of a row that is taken out of an array it is the first one.
        else if (around.id.type === "Identifier" && use.type !== "Identifier") addPattern(around.id, without);
        else change(null);
        return;
      case "CallExpression": {
        const callee = globalMember(inside, around.callee);
        // Copied from, as by a spread.
        if (callee === "Object.assign" && bare(around.arguments[0] ?? around) !== use) {
          if (isBatch) ifReturned.push({ node: use, column: null });
          return;
        }
        // `out.push(row)`, where `out` is what is returned.
        if (callee === null || !(isBatch ? READING_BATCHES : READING_ROWS).test(callee)) {
          ifReturned.push({ node: use, column: null });
        }
        return;
      }
      default:
        ifReturned.push({ node: use, column: null });
    }
  }

  function useInputs(use: AnyNode): void {
    const around = inside.around(use);
    if (isLookedAt(use, around)) return;
    switch (around.type) {
      case "MemberExpression":
        if (bare(around.object as AnyNode) === use) useMember(around);
        return;
      case "SpreadElement": {
        const array = inside.around(around);
        if (array.type === "ArrayExpression" && array.elements.length === 1) useInputs(array);
        else ifReturned.push({ node: use, column: null });
        return;
      }
      case "ForOfStatement":
        if (around.left.type === "VariableDeclaration") addDeclared(around.left.declarations[0]?.id);
        else change(null);
        return;
      case "VariableDeclarator":
        addRows(around.id);
        return;
      case "CallExpression":
        useArgument(use, around);
        return;
      default:
        ifReturned.push({ node: use, column: null });
    }
  }

  function addDeclared(pattern: Pattern | undefined): void {
    if (pattern === undefined) change(null);
    else addPattern(pattern, NO_NAMES);
  }

  function useArgument(use: AnyNode, call: CallExpression): void {
    const callee = globalMember(inside, call.callee);
    const [first, callback] = call.arguments;
    if (callee === "Array.from" && first !== undefined && bare(first) === use) {
      if (callback === undefined) useInputs(call);
      else addCallback("map", callback);
    } else if (callee === null || !READING_ARRAYS.test(callee)) change(null);
  }

  /** An item, the length or a method of an array of rows. */
  function useMember(member: MemberExpression): void {
    const call = inside.around(member);
    if (isWritten(inside, member)) change(null);
    else if (isIndex(member)) useInput(member, NO_NAMES);
    else if (call.type === "CallExpression" && isCalled(inside, member)) useMethod(member, call);
    else if (staticName(member.property as AnyNode, member.computed) !== "length") change(null);
  }

  function useMethod(member: MemberExpression, call: CallExpression): void {
    const name = staticName(member.property as AnyNode, member.computed) ?? "";
    const gives = givenByMethod(name);
    if (gives === null || (gives === "value" && name.startsWith("reduce") && call.arguments.length < 2)) {
      change(null);
      return;
    }
    const [callback] = call.arguments;
    if (callbackRows(name) !== null && callback !== undefined) addCallback(name, callback);
    if (gives === "rows") useInputs(call);
    else if (gives === "row") useInput(call, NO_NAMES);
    else if (gives === "entries") useEntries(call);
  }

  /** The parameters of a method's callback that are rows; one that could be given the whole array is not followed. */
  function addCallback(method: string, callback: AnyNode): void {
    const fn = bare(callback);
    const rows = callbackRows(method);
    const isFollowed =
      fn.type === "ArrowFunctionExpression" &&
      rows !== null &&
      fn.params.length <= rows.most &&
      fn.params.every(({ type }) => type !== "RestElement");
    if (!isFollowed) {
      change(null);
      return;
    }
    for (const index of rows.at) {
      const parameter = fn.params[index];
      if (parameter !== undefined) addPattern(parameter, NO_NAMES);
    }
  }

  /** `for (const [i, row] of rows.entries())`. */
  function useEntries(call: CallExpression): void {
    const around = inside.around(call);
    const pattern =
      around.type === "ForOfStatement" && around.left.type === "VariableDeclaration"
        ? around.left.declarations[0]?.id
        : undefined;
    if (pattern?.type !== "ArrayPattern" || pattern.elements.some((element) => element?.type === "RestElement")) {
      change(null);
      return;
    }
    const row = pattern.elements[1];
    if (row) addPattern(row, NO_NAMES);
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

  const given = parameter.type === "AssignmentPattern" ? parameter.left : parameter;
  if (takes === "rows") addRows(given);
  else addPattern(given, NO_NAMES);
  for (let binding = found.pop(); binding !== undefined; binding = found.pop()) {
    const source = sources.get(binding);
    for (const use of inside.uses.get(binding) ?? []) {
      if (source?.kind === "input") useInput(use, source.without);
      else if (source?.kind === "inputs") useInputs(use);
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

/** Its value goes nowhere: it is compared, tested, or thrown away. */
function isLookedAt(use: AnyNode, around: AnyNode): boolean {
  switch (around.type) {
    case "BinaryExpression":
    case "UnaryExpression":
    case "ExpressionStatement":
    case "IfStatement":
      return true;
    case "ConditionalExpression":
      return bare(around.test) === use;
    default:
      return false;
  }
}
