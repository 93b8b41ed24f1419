/** Questions about the parts of an expression, and replacing columns in it. */
import { type AggregateExpression, column, type Expression, type RawExpression } from "./expression.ts";

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
    case "window": {
      const { of, partitionBy, orderBy } = expression;
      const inside = of.kind === "aggregate" ? children(of) : of.args;
      return [...inside, ...partitionBy, ...orderBy.map((key) => key.expression)];
    }
    default:
      return [];
  }
}

export function hasRaw(expression: Expression): boolean {
  return expression.kind === "raw" || children(expression).some(hasRaw);
}

/** The columns that an expression names outright, without those in raw SQL. */
export function namedColumns(expression: Expression, into: Set<string> = new Set()): Set<string> {
  if (expression.kind === "column") into.add(expression.name);
  for (const child of children(expression)) namedColumns(child, into);
  return into;
}

/**
 * The columns that an expression may read; null if that is unknown. Raw SQL counts with those of the available columns
 * that it names. The answer is null if it may refer to all columns (`*`, COLUMNS).
 */
export function columnsRead(expression: Expression, available: readonly string[] | null): Set<string> | null {
  const found = namedColumns(expression);
  for (const each of rawsIn(expression)) {
    const names = available === null ? null : rawColumns(each, available);
    if (names === null) return null;
    for (const name of names) found.add(name);
  }
  return found;
}

/** If the kernel's parser was not asked, every name counts that occurs anywhere in the text. */
function rawColumns({ sql, seen }: RawExpression, available: readonly string[]): readonly string[] | null {
  if (seen !== null) {
    const { columns } = seen;
    return columns === null ? null : available.filter((name) => columns.has(name.toLowerCase()));
  }
  if (/\(\s*\*|\.\s*\*|\bcolumns\b|\bselect\b|\bfrom\b/i.test(sql)) return null;
  const lowered = sql.toLowerCase();
  return available.filter((name) => lowered.includes(name.toLowerCase()));
}

export function rawsIn(expression: Expression): readonly RawExpression[] {
  return expression.kind === "raw" ? [expression] : children(expression).flatMap(rawsIn);
}

/**
 * The keys by which each window in it is partitioned, outermost windows only. Empty: the expression looks at one row at
 * a time.
 */
export function partitionsIn(expression: Expression): readonly (readonly Expression[])[] {
  if (expression.kind === "window") return [expression.partitionBy];
  if (expression.kind === "raw") return expression.seen?.windows.map((names) => names.map(column)) ?? [];
  return children(expression).flatMap(partitionsIn);
}

export function isWindowed(expression: Expression): boolean {
  return partitionsIn(expression).length > 0;
}

/** The aggregates in it, outermost ones only. */
export function aggregatesIn(expression: Expression): readonly AggregateExpression[] {
  return expression.kind === "aggregate" ? [expression] : children(expression).flatMap(aggregatesIn);
}

/** The same expression with other children. */
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
    case "aggregate":
      return mapAggregate(expression, map);
    case "window": {
      const { of, partitionBy, orderBy } = expression;
      return {
        ...expression,
        of: of.kind === "aggregate" ? mapAggregate(of, map) : { ...of, args: of.args.map(map) },
        partitionBy: partitionBy.map(map),
        orderBy: orderBy.map((key) => ({ ...key, expression: map(key.expression) })),
      };
    }
    default:
      return expression;
  }
}

function mapAggregate(aggregate: AggregateExpression, map: (child: Expression) => Expression): AggregateExpression {
  const { input, where } = aggregate;
  return { ...aggregate, input: input === null ? null : map(input), where: where === null ? null : map(where) };
}

export function substitute(expression: Expression, columns: ReadonlyMap<string, Expression>): Expression {
  if (expression.kind === "column") return columns.get(expression.name) ?? expression;
  return mapChildren(expression, (child) => substitute(child, columns));
}

/** Number of nodes. */
export function expressionSize(expression: Expression): number {
  return children(expression).reduce((sum, child) => sum + expressionSize(child), 1);
}
