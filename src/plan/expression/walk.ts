/** Questions about an expression's inside, and replacing columns in it. */
import type { AggregateExpression, Expression } from "./expression.ts";

export function children(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "call":
      return expression.args;
    case "cast":
      return [expression.input];
    case "case":
      return [...expression.branches.flatMap(({ when, value }) => [when, value]), expression.otherwise];
    case "aggregate":
      return [expression.input, expression.where].filter((child) => child !== null);
    default:
      return [];
  }
}

export function hasRaw(expression: Expression): boolean {
  return expression.kind === "raw" || children(expression).some(hasRaw);
}

/** The columns an expression names outright; raw SQL inside is left out. */
export function namedColumns(expression: Expression, into: Set<string> = new Set()): Set<string> {
  if (expression.kind === "column") into.add(expression.name);
  for (const child of children(expression)) namedColumns(child, into);
  return into;
}

/**
 * The columns an expression may read, null where that cannot be told. In raw SQL every word that is one of the
 * available columns counts; where it may mean them all (`*`, COLUMNS, a subquery) or they are not known, null.
 */
export function columnsRead(expression: Expression, available: readonly string[] | null): Set<string> | null {
  const found = namedColumns(expression);
  for (const text of rawTexts(expression)) {
    if (available === null || /\(\s*\*|\.\s*\*|\bcolumns\b|\bselect\b|\bfrom\b/i.test(text)) return null;
    const lowered = text.toLowerCase();
    for (const name of available) if (lowered.includes(name.toLowerCase())) found.add(name);
  }
  return found;
}

function rawTexts(expression: Expression): readonly string[] {
  return expression.kind === "raw" ? [expression.sql] : children(expression).flatMap(rawTexts);
}

/** The aggregates in it, outermost ones only. */
export function aggregatesIn(expression: Expression): readonly AggregateExpression[] {
  return expression.kind === "aggregate" ? [expression] : children(expression).flatMap(aggregatesIn);
}

/** The same expression over other children. */
export function mapChildren(expression: Expression, map: (child: Expression) => Expression): Expression {
  switch (expression.kind) {
    case "call":
      return { ...expression, args: expression.args.map(map) };
    case "cast":
      return { ...expression, input: map(expression.input) };
    case "case":
      return {
        ...expression,
        branches: expression.branches.map(({ when, value }) => ({ when: map(when), value: map(value) })),
        otherwise: map(expression.otherwise),
      };
    case "aggregate": {
      const { input, where } = expression;
      return {
        ...expression,
        input: input === null ? null : map(input),
        where: where === null ? null : map(where),
      };
    }
    default:
      return expression;
  }
}

export function substitute(expression: Expression, columns: ReadonlyMap<string, Expression>): Expression {
  if (expression.kind === "column") return columns.get(expression.name) ?? expression;
  return mapChildren(expression, (child) => substitute(child, columns));
}

/** Number of nodes. */
export function expressionSize(expression: Expression): number {
  return children(expression).reduce((sum, child) => sum + expressionSize(child), 1);
}

export function sameExpression(a: Expression, b: Expression): boolean {
  if (a.kind === "column" && b.kind === "column") return a.name === b.name;
  return a === b;
}
