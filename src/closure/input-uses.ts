/**
 * What a function does with its input: which variables stand for the input or for a column of it, which columns may be
 * changed, and whether code out of sight gets the input. The values of a row are converted to the column's type again,
 * even if their insides were changed. The arrays of a batch can be written in place, so only plain reading is harmless
 * for them.
 */
import type { AnyNode, CallExpression, Identifier, MemberExpression, ObjectPattern, Pattern } from "acorn";
import { bare, globalMember, type Inside, isCalled, isWritten } from "./inside.ts";
import { type Binding, staticName } from "./lexical.ts";
import { callbackRows, givenByMethod, isIndex } from "./row-arrays.ts";
import type { Source } from "./sources.ts";

/** What a function gets: a row, a batch of columns, an array of rows. */
export type Takes = "row" | "columns" | "rows";

export interface InputUses {
  readonly sources: ReadonlyMap<Binding, Source>;
  /**
   * Columns that may be changed; null if any may be. `returned` are the literals and names that turned out to be
   * results: in them the input may stand unchanged.
   */
  changed(returned: ReadonlySet<AnyNode>): ReadonlySet<string> | null;
}

/** Methods of arrays and typed arrays that do not change them and return no view of them. */
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
/** Constructors that copy their arguments. */
const COPIES = /^(Set|Array|(Big)?(Int|Uint|Float)\d+(Clamped)?Array)$/;
const NO_NAMES: ReadonlySet<string> = new Set();

export function inputUses(inside: Inside, parameter: Pattern, takes: Takes): InputUses {
  return new Uses(inside, parameter, takes);
}

class Uses implements InputUses {
  readonly sources = new Map<Binding, Source>();
  readonly #inside: Inside;
  readonly #isBatch: boolean;
  readonly #changed = new Set<string>();
  /** Harmless if that node is a result; otherwise the column is changed (null: any column). */
  readonly #ifReturned: { readonly node: AnyNode; readonly column: string | null }[] = [];
  /** Variables whose uses have not been looked at yet. */
  readonly #found: Binding[] = [];
  #isLost = false;

  constructor(inside: Inside, parameter: Pattern, takes: Takes) {
    this.#inside = inside;
    this.#isBatch = takes === "columns";
    const given = parameter.type === "AssignmentPattern" ? parameter.left : parameter;
    if (takes === "rows") this.#addRows(given);
    else this.#addPattern(given, NO_NAMES);
    for (let binding = this.#found.pop(); binding !== undefined; binding = this.#found.pop()) {
      const source = this.sources.get(binding);
      for (const use of inside.uses.get(binding) ?? []) {
        if (source?.kind === "input") this.#useInput(use, source.without);
        else if (source?.kind === "inputs") this.#useInputs(use);
        else if (source?.kind === "column") this.#useColumn(use, source.name);
      }
    }
  }

  changed(returned: ReadonlySet<AnyNode>): ReadonlySet<string> | null {
    for (const { node, column } of this.#ifReturned) if (!returned.has(node)) this.#change(column);
    return this.#isLost ? null : this.#changed;
  }

  #change(column: string | null): void {
    if (column === null) this.#isLost = true;
    else this.#changed.add(column);
  }

  #addVariable(name: Identifier, source: Source): void {
    const binding = this.#inside.declared.get(name.start);
    if (binding === undefined) return;
    if (!binding.assigned) {
      this.sources.set(binding, source);
      this.#found.push(binding);
    } else if (source.kind !== "column" || this.#isBatch) this.#change(source.kind === "column" ? source.name : null);
  }

  #addPattern(pattern: Pattern, before: ReadonlySet<string>): void {
    if (pattern.type === "Identifier") this.#addVariable(pattern, { kind: "input", without: before });
    else if (pattern.type === "ObjectPattern") this.#addProperties(pattern, before);
    else this.#change(null);
  }

  #addProperties(pattern: ObjectPattern, before: ReadonlySet<string>): void {
    const without = new Set(before);
    for (const property of pattern.properties) {
      if (property.type === "RestElement") {
        if (property.argument.type === "Identifier") this.#addVariable(property.argument, { kind: "input", without });
        continue;
      }
      const name = staticName(property.key, property.computed);
      // A computed key takes out an unknown property, so nothing is known of the rest either.
      if (name === null) {
        this.#change(null);
        return;
      }
      if (property.value.type === "Identifier" && !before.has(name)) {
        this.#addVariable(property.value, { kind: "column", name });
      } else if (this.#isBatch) this.#change(name);
      without.add(name);
    }
  }

  /** Variables of rows, or of arrays of them. */
  #addRows(pattern: Pattern): void {
    if (pattern.type === "Identifier") this.#addVariable(pattern, { kind: "inputs" });
    else if (pattern.type !== "ArrayPattern") this.#change(null);
    else {
      for (const element of pattern.elements) {
        if (element?.type === "RestElement") this.#addRows(element.argument);
        else if (element !== null) this.#addPattern(element, NO_NAMES);
      }
    }
  }

  #useInput(use: AnyNode, without: ReadonlySet<string>): void {
    const around = this.#inside.around(use);
    if (isLookedAt(use, around)) return;
    switch (around.type) {
      case "MemberExpression": {
        if (bare(around.object as AnyNode) !== use) return;
        const name = staticName(around.property as AnyNode, around.computed);
        if (isWritten(this.#inside, around) || isCalled(this.#inside, around))
          this.#change(isCalled(this.#inside, around) ? null : name);
        else if (name === null || !without.has(name)) this.#useColumn(around, name);
        return;
      }
      case "SpreadElement": {
        const literal = this.#inside.around(around);
        if (literal.type !== "ObjectExpression") this.#change(null);
        else if (this.#isBatch) this.#ifReturned.push({ node: literal, column: null });
        return;
      }
      case "VariableDeclarator":
        if (around.id.type === "ObjectPattern") this.#addProperties(around.id, without);
        // Another name of the input. A row that is taken out of an array gets its first name here.
        else if (around.id.type === "Identifier" && use.type !== "Identifier") this.#addPattern(around.id, without);
        else this.#change(null);
        return;
      case "CallExpression": {
        const callee = globalMember(this.#inside, around.callee);
        // Its properties are copied, as by a spread.
        if (callee === "Object.assign" && bare(around.arguments[0] ?? around) !== use) {
          if (this.#isBatch) this.#ifReturned.push({ node: use, column: null });
          return;
        }
        // `out.push(row)`, where `out` is what is returned.
        if (callee === null || !(this.#isBatch ? READING_BATCHES : READING_ROWS).test(callee)) {
          this.#ifReturned.push({ node: use, column: null });
        }
        return;
      }
      default:
        this.#ifReturned.push({ node: use, column: null });
    }
  }

  #useInputs(use: AnyNode): void {
    const around = this.#inside.around(use);
    if (isLookedAt(use, around)) return;
    switch (around.type) {
      case "MemberExpression":
        if (bare(around.object as AnyNode) === use) this.#useMember(around);
        return;
      case "SpreadElement": {
        const array = this.#inside.around(around);
        if (array.type === "ArrayExpression" && array.elements.length === 1) this.#useInputs(array);
        else this.#ifReturned.push({ node: use, column: null });
        return;
      }
      case "ForOfStatement":
        if (around.left.type === "VariableDeclaration") this.#addDeclared(around.left.declarations[0]?.id);
        else this.#change(null);
        return;
      case "VariableDeclarator":
        this.#addRows(around.id);
        return;
      case "CallExpression":
        this.#useArgument(use, around);
        return;
      default:
        this.#ifReturned.push({ node: use, column: null });
    }
  }

  #addDeclared(pattern: Pattern | undefined): void {
    if (pattern === undefined) this.#change(null);
    else this.#addPattern(pattern, NO_NAMES);
  }

  #useArgument(use: AnyNode, call: CallExpression): void {
    const callee = globalMember(this.#inside, call.callee);
    const [first, callback] = call.arguments;
    if (callee === "Array.from" && first !== undefined && bare(first) === use) {
      if (callback === undefined) this.#useInputs(call);
      else this.#addCallback("map", callback);
    } else if (callee === null || !READING_ARRAYS.test(callee)) this.#change(null);
  }

  /** An item, the length or a method of an array of rows. */
  #useMember(member: MemberExpression): void {
    const call = this.#inside.around(member);
    if (isWritten(this.#inside, member)) this.#change(null);
    else if (isIndex(member)) this.#useInput(member, NO_NAMES);
    else if (call.type === "CallExpression" && isCalled(this.#inside, member)) this.#useMethod(member, call);
    else if (staticName(member.property as AnyNode, member.computed) !== "length") this.#change(null);
  }

  #useMethod(member: MemberExpression, call: CallExpression): void {
    const name = staticName(member.property as AnyNode, member.computed) ?? "";
    const gives = givenByMethod(name);
    if (gives === null || (gives === "value" && name.startsWith("reduce") && call.arguments.length < 2)) {
      this.#change(null);
      return;
    }
    const [callback] = call.arguments;
    if (callbackRows(name) !== null && callback !== undefined) this.#addCallback(name, callback);
    if (gives === "rows") this.#useInputs(call);
    else if (gives === "row") this.#useInput(call, NO_NAMES);
    else if (gives === "entries") this.#useEntries(call);
  }

  /** The parameters of a method's callback that are rows. A callback that could get the whole array is not followed. */
  #addCallback(method: string, callback: AnyNode): void {
    const fn = bare(callback);
    const rows = callbackRows(method);
    const isFollowed =
      fn.type === "ArrowFunctionExpression" &&
      rows !== null &&
      fn.params.length <= rows.most &&
      fn.params.every(({ type }) => type !== "RestElement");
    if (!isFollowed) {
      this.#change(null);
      return;
    }
    for (const index of rows.at) {
      const parameter = fn.params[index];
      if (parameter !== undefined) this.#addPattern(parameter, NO_NAMES);
    }
  }

  /** `for (const [i, row] of rows.entries())`. */
  #useEntries(call: CallExpression): void {
    const around = this.#inside.around(call);
    const pattern =
      around.type === "ForOfStatement" && around.left.type === "VariableDeclaration"
        ? around.left.declarations[0]?.id
        : undefined;
    if (pattern?.type !== "ArrayPattern" || pattern.elements.some((element) => element?.type === "RestElement")) {
      this.#change(null);
      return;
    }
    const row = pattern.elements[1];
    if (row) this.#addPattern(row, NO_NAMES);
  }

  #useColumn(use: AnyNode, column: string | null): void {
    const around = this.#inside.around(use);
    if (around.type === "VariableDeclarator" && around.id.type === "Identifier" && column !== null) {
      this.#addVariable(around.id, { kind: "column", name: column });
    } else if (this.#isBatch && !this.#isReading(use, around, column)) this.#change(column);
  }

  #isReading(use: AnyNode, around: AnyNode, column: string | null): boolean {
    switch (around.type) {
      case "Property":
        this.#ifReturned.push({ node: this.#inside.around(around), column });
        return true;
      case "MemberExpression": {
        if (bare(around.object as AnyNode) !== bare(use)) return true;
        const name = staticName(around.property as AnyNode, around.computed);
        if (isWritten(this.#inside, around)) return false;
        if (name === null || name === "length" || /^\d+$/.test(name)) return true;
        return READING.has(name) && isCalled(this.#inside, around);
      }
      case "SpreadElement":
        return this.#inside.around(around).type !== "ObjectExpression";
      case "ForOfStatement":
      case "BinaryExpression":
        return true;
      case "UnaryExpression":
        return around.operator !== "delete";
      case "CallExpression":
        return COPYING.test(globalMember(this.#inside, around.callee) ?? "") && around.arguments[0] === use;
      case "NewExpression":
        return (
          around.callee.type === "Identifier" &&
          this.#inside.meaning(around.callee) === null &&
          COPIES.test(around.callee.name)
        );
      default:
        return false;
    }
  }
}

/** The value is only looked at: it is compared, tested, or dropped. */
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
