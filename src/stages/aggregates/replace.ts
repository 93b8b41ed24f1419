/**
 * Aggregates inside of expressions: others in their place, and raw SQL outside of them, which may hold some of its own.
 */
import { type AggregateExpression, children, type Expression } from "../../plan/index.ts";

/** The expression with each aggregate in it, and each column outside of aggregates, replaced. */
export function replaced(
  expression: Expression,
  replace: (inner: Extract<Expression, { kind: "aggregate" | "column" }>) => Expression,
): Expression {
  const inside = (each: Expression) => replaced(each, replace);
  switch (expression.kind) {
    case "aggregate":
    case "column":
      return replace(expression);
    case "call":
      return { ...expression, args: expression.args.map(inside) };
    case "cast":
      return { ...expression, input: inside(expression.input) };
    case "case":
      return {
        ...expression,
        branches: expression.branches.map(({ when, value }) => ({ when: inside(when), value: inside(value) })),
        otherwise: inside(expression.otherwise),
      };
    default:
      return expression;
  }
}

export function hasRawOutside(expression: Expression): boolean {
  if (expression.kind === "aggregate") return false;
  return expression.kind === "raw" || children(expression).some(hasRawOutside);
}

/** It depends on the order of its rows. */
export function goesByOrder({ name }: AggregateExpression): boolean {
  return name === "first" || name === "list";
}
