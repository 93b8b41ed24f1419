/**
 * Computes what does not depend on rows: arithmetic and comparisons of literals, and conditions that are always or
 * never true. Only if JavaScript and SQL agree on the answer; the rest is left to the kernel.
 */

import type { AggregateExpression, CallExpression, NamedExpression } from "../expression/index.ts";
import { type Expression, type Literal, literal } from "../expression/index.ts";
import { aggregate } from "../nodes/aggregate.ts";
import { filter } from "../nodes/filter.ts";
import { limit } from "../nodes/limit.ts";
import { sort } from "../nodes/sort.ts";
import { type Plan, rewriteUp } from "../plan.ts";

export function foldConstants(plan: Plan): Plan {
  return rewriteUp(plan, (node) => {
    switch (node.kind) {
      case "filter": {
        const predicate = fold(node.predicate);
        if (predicate.kind === "literal") return predicate.value === true ? node.input : limit(node.input, 0, 0);
        return predicate === node.predicate ? node : filter(node.input, predicate);
      }
      case "project": {
        const items = node.items.map(foldNamed);
        return isSame(items, node.items) ? node : Object.freeze({ ...node, items });
      }
      case "aggregate": {
        // Keys are left alone: SQL would take a constant there for the position of a column.
        const items = node.items.map(foldNamed);
        return isSame(items, node.items) ? node : aggregate(node.input, node.keys, items);
      }
      case "sort": {
        const keys = node.keys
          .map((key) => ({ ...key, expression: fold(key.expression) }))
          .filter(({ expression }) => expression.kind !== "literal");
        return keys.length === 0 ? node.input : sort(node.input, keys);
      }
      default:
        return node;
    }
  });
}

function foldNamed(item: NamedExpression): NamedExpression {
  const expression = fold(item.expression);
  return expression === item.expression ? item : { ...item, expression };
}

function isSame<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.every((each, i) => each === b[i]);
}

function foldAggregate(expression: AggregateExpression): Expression {
  const input = expression.input === null ? null : fold(expression.input);
  const folded = expression.where === null ? null : fold(expression.where);
  const where = folded !== null && isLiteral(folded, true) ? null : folded;
  return input === expression.input && where === expression.where ? expression : { ...expression, input, where };
}

export function fold(expression: Expression): Expression {
  if (expression.kind === "aggregate") return foldAggregate(expression);
  if (expression.kind === "cast") {
    const input = fold(expression.input);
    return input === expression.input ? expression : { ...expression, input };
  }
  if (expression.kind !== "call") return expression;
  const args = expression.args.map(fold);
  const folded = isSame(args, expression.args) ? expression : { ...expression, args };
  return foldLogic(folded) ?? foldValues(folded) ?? folded;
}

function isLiteral(expression: Expression, value: Literal): boolean {
  return expression.kind === "literal" && expression.value === value;
}

function foldLogic(expression: CallExpression): Expression | null {
  const { name, args } = expression;
  if (name === "not") {
    const [input] = args;
    return input?.kind === "literal" && typeof input.value === "boolean" ? literal(!input.value) : null;
  }
  if (name !== "and" && name !== "or") return null;
  // TRUE decides an OR and FALSE an AND, whatever the other operands are, even null. The opposite constant changes
  // nothing.
  const decides = name === "or";
  if (args.some((arg) => isLiteral(arg, decides))) return literal(decides);
  const rest = args.filter((arg) => !isLiteral(arg, !decides));
  const [only] = rest;
  if (only === undefined) return literal(!decides);
  if (rest.length === 1) return only;
  return rest.length === args.length ? null : { ...expression, args: rest };
}

function foldValues(expression: CallExpression): Expression | null {
  const [left, right] = expression.args;
  if (left?.kind !== "literal" || right?.kind !== "literal" || expression.args.length !== 2) return null;
  const a = left.value;
  const b = right.value;
  if (typeof a === "number" && typeof b === "number") return foldNumbers(expression, a, b);
  if (typeof a === "string" && typeof b === "string" && expression.name === "concat") return literal(a + b);
  return null;
}

function foldNumbers(expression: CallExpression, a: number, b: number): Expression | null {
  if (Number.isNaN(a) || Number.isNaN(b)) return null;
  switch (expression.name) {
    case "eq":
      return literal(a === b);
    case "ne":
      return literal(a !== b);
    case "lt":
      return literal(a < b);
    case "le":
      return literal(a <= b);
    case "gt":
      return literal(a > b);
    case "ge":
      return literal(a >= b);
    case "add":
      return integers(a, b, a + b);
    case "subtract":
      return integers(a, b, a - b);
    case "multiply":
      return integers(a, b, a * b);
    default:
      return null;
  }
}

/** Only integers that keep their SQL type; fractions follow the kernel's rules for DOUBLE. */
function integers(a: number, b: number, result: number): Expression | null {
  const small = (value: number) => Number.isInteger(value) && Math.abs(value) < 2 ** 31 && !Object.is(value, -0);
  return small(a) && small(b) && small(result) ? literal(result) : null;
}
