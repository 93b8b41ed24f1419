/**
 * Checks an aggregate and takes keys out of its items. What is computed from keys and aggregates together (`year + 1`,
 * `sum(x) / key`) becomes a projection above it, so that every column left in an item is inside an aggregate.
 */
import { OptionError } from "../errors/index.ts";
import { checkAggregateType } from "./aggregate-types.ts";
import { checkAmong, checkExpressions, checkMadeNames, checkNames } from "./checks.ts";
import { columnsOf } from "./columns.ts";
import {
  type AggregateExpression,
  aggregatesIn,
  children,
  column,
  type Expression,
  expressionSql,
  mapChildren,
  type NamedExpression,
  rawsIn,
} from "./expression/index.ts";
import { type AggregateNode, aggregate } from "./nodes/aggregate.ts";
import { project } from "./nodes/project.ts";
import { checkGroupWise } from "./one-row.ts";
import type { Plan } from "./plan.ts";

export function resolveAggregate(plan: AggregateNode): Plan {
  const { input, keys, items } = plan;
  checkExpressions(
    input,
    keys.map(({ expression }) => expression),
    "groupBy",
  );
  checkMadeNames(columnsOf(plan) ?? [], items.length === 0 ? "groupBy" : "agg");
  for (const item of items) checkItem(plan, item);
  return items.some(namesKeys) ? keysAbove(plan) : aggregate(input, keys, items);
}

function checkItem({ input, keys }: AggregateNode, { name, expression }: NamedExpression): void {
  checkGroupWise(expression, "agg");
  const keyNames = keys.map((key) => key.name);
  for (const found of columnsOutside(expression)) {
    if (keyNames.includes(found)) continue;
    const available = columnsOf(input);
    if (available !== null) checkAmong([found], [...available, ...keyNames], "agg");
    const remedy = keys.length === 0 ? "" : "make it a key of groupBy, or ";
    throw new OptionError(
      `agg: "${name}" takes "${found}", which is not a key, so a group has many values of it: ${remedy}choose one: col("${found}").first(), .min(), .list(), ….`,
    );
  }
  for (const outer of aggregatesIn(expression)) checkAggregate(input, outer);
}

function checkAggregate(input: Plan, outer: AggregateExpression): void {
  for (const inside of children(outer)) {
    const raws = rawsIn(inside).filter(({ seen }) => (seen?.aggregates.length ?? 0) > 0);
    const [inner] = [...aggregatesIn(inside), ...raws];
    if (inner !== undefined) {
      throw new OptionError(
        `agg: ${expressionSql(inner)} is inside another aggregate. Compute it first, with groupBy(…).agg({ … }), and aggregate its result.`,
      );
    }
    checkNames(input, columnsOutside(inside), "agg");
  }
  checkAggregateType(input, outer, "agg");
}

/** The columns that an expression names outright, outside of aggregates. */
function columnsOutside(expression: Expression): readonly string[] {
  if (expression.kind === "column") return [expression.name];
  return expression.kind === "aggregate" ? [] : children(expression).flatMap(columnsOutside);
}

/** Raw SQL may be an aggregate itself, so it stays whole and in place. */
function namesKeys({ expression }: NamedExpression): boolean {
  return columnsOutside(expression).length > 0 && !rawOutside(expression);
}

function rawOutside(expression: Expression): boolean {
  if (expression.kind === "raw") return true;
  return expression.kind !== "aggregate" && children(expression).some(rawOutside);
}

function keysAbove({ input, keys, items }: AggregateNode): Plan {
  const parts: NamedExpression[] = [];
  const named = (expression: Expression): Expression => {
    const name = `__spillway_aggregate_${parts.length}`;
    parts.push({ name, expression });
    return column(name);
  };
  const above = (expression: Expression): Expression =>
    expression.kind === "aggregate" ? named(expression) : mapChildren(expression, above);
  const computed = items.map(({ name, expression }) => ({
    name,
    expression: rawOutside(expression) ? named(expression) : above(expression),
  }));
  const kept = keys.map(({ name }) => ({ name, expression: column(name) }));
  return project(aggregate(input, keys, parts), "select", [...kept, ...computed], "agg");
}
