/** Columns as `select` and `groupBy` take them: names, or expressions with a name. */
import { OptionError } from "../errors/index.ts";
import { column, type NamedExpression } from "../plan/index.ts";
import { Expr } from "./expressions/index.ts";
import { describe, text } from "./options.ts";

export function namedItems(operator: string, items: readonly unknown[]): readonly NamedExpression[] {
  if (items.length === 0) throw new OptionError(`${operator}: name at least one column.`);
  const named = items.map((item): NamedExpression => {
    if (typeof item === "string") return { name: text(operator, "a column", item), expression: column(item) };
    if (!(item instanceof Expr)) {
      throw new OptionError(`${operator}: ${describe(item)} is neither a name nor an expression.`);
    }
    if (item.columnName === null) throw new OptionError(`${operator}: give the expression a name: .as("name").`);
    return { name: item.columnName, expression: item.expression };
  });
  const twice = named.find(({ name }, i) => named.findIndex((other) => other.name === name) !== i);
  if (twice !== undefined) throw new OptionError(`${operator}: "${twice.name}" is given twice.`);
  return named;
}

/** `{ total: col("x").sum() }` */
export function itemsByName(operator: string, items: object): readonly NamedExpression[] {
  if (typeof items !== "object" || items === null || Array.isArray(items)) {
    throw new OptionError(
      `${operator}: the aggregates must be an object of names and expressions, not ${describe(items)}.`,
    );
  }
  const named = Object.entries(items).map(([name, item]: [string, unknown]): NamedExpression => {
    if (item instanceof Expr) return { name: text(operator, "a name", name), expression: item.expression };
    throw new OptionError(
      `${operator}: "${name}" is ${describe(item)}; it must be an expression over aggregates, such as col("x").sum().`,
    );
  });
  if (named.length === 0) throw new OptionError(`${operator}: name at least one aggregate: { n: count() }.`);
  return named;
}
