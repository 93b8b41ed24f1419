/**
 * Projections and conditions that contain a window. Such a projection becomes a window node. For such a condition, a
 * window node below it adds columns, the condition uses them, and a projection above it removes them.
 */
import { OptionError } from "../errors/index.ts";
import { checkAggregateType } from "./aggregate-types.ts";
import { checkMadeNames, checkNames } from "./checks.ts";
import { columnsOf } from "./columns.ts";
import {
  children,
  column,
  type Expression,
  expressionSql,
  isWindowed,
  mapChildren,
  type NamedExpression,
  namedColumns,
  type WindowExpression,
} from "./expression/index.ts";
import { drop } from "./nodes/drop.ts";
import { type FilterNode, filter } from "./nodes/filter.ts";
import { type ProjectNode, project } from "./nodes/project.ts";
import { window } from "./nodes/window.ts";
import { checkNoAggregate, checkRaw, checkRowByRow, misplaced } from "./one-row.ts";
import type { Plan } from "./plan.ts";

export function resolveWindow({ input, mode, items, operator }: ProjectNode): Plan {
  for (const { expression } of items) checkWindowed(input, expression, operator);
  const node = window(input, mode, items, operator);
  checkMadeNames(columnsOf(node) ?? items.map(({ name }) => name), operator);
  return node;
}

/** The windows see the rows as they are before the condition. */
export function resolveWindowFilter({ input, predicate }: FilterNode): Plan {
  checkWindowed(input, predicate, "filter");
  const added: NamedExpression[] = [];
  const lifted = (expression: Expression): Expression => {
    if (!isWindowed(expression)) return expression;
    if (expression.kind !== "window" && expression.kind !== "raw") return mapChildren(expression, lifted);
    const name = `__spillway_window_${added.length}`;
    added.push({ name, expression });
    return column(name);
  };
  const condition = lifted(predicate);
  const kept = filter(window(input, "with", added, "filter"), condition);
  const names = columnsOf(input);
  if (names === null)
    return drop(
      kept,
      added.map(({ name }) => name),
    );
  return project(
    kept,
    "select",
    names.map((name) => ({ name, expression: column(name) })),
    "filter",
  );
}

function checkWindowed(input: Plan, expression: Expression, operator: string): void {
  checkNames(input, namedColumns(expression), operator);
  checkPart(input, expression, operator);
}

function checkPart(input: Plan, expression: Expression, operator: string): void {
  switch (expression.kind) {
    case "window":
      checkWindow(input, expression, operator);
      break;
    case "aggregate":
      throw misplaced(expression, operator);
    case "raw":
      checkRaw(expression, operator);
      checkNoAggregate(expression, operator);
      break;
    default:
      for (const child of children(expression)) checkPart(input, child, operator);
  }
}

function checkWindow(input: Plan, expression: WindowExpression, operator: string): void {
  for (const child of children(expression)) {
    if (isWindowed(child)) {
      throw new OptionError(
        `${operator}: ${expressionSql(expression)} has a window inside a window. Put the inner one into a column first, with withColumn.`,
      );
    }
    checkRowByRow(child, operator);
  }
  if (expression.of.kind === "aggregate") checkAggregateType(input, expression.of, operator);
}
