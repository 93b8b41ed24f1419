/**
 * Replaces the aggregates in expressions. Raw SQL outside of them stays, although it may contain aggregates of its own.
 */
import { type AggregateExpression, children, type Expression } from "../../plan/index.ts";

/** The expression with its aggregates replaced, and with the columns outside of aggregates replaced. */
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

/** Whether the aggregate depends on the order of its rows. */
export function goesByOrder({ name }: AggregateExpression): boolean {
  return name === "first" || name === "list";
}
