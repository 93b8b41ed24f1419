/**
 * One projection instead of two, by putting the inner one's expressions where the outer names them. A thousand
 * `withColumn`s become a handful of SELECTs; not always one, since a column used again and again would grow without
 * bound.
 */
import {
  columnsRead,
  type Expression,
  expressionSize,
  hasRaw,
  type NamedExpression,
  namedColumns,
  substitute,
} from "../expression/index.ts";
import { type ProjectNode, project } from "../nodes/project.ts";
import { type WindowNode, window } from "../nodes/window.ts";
import { commonPartition } from "../partitions.ts";
import { type Plan, rewriteUp } from "../plan.ts";

/**
 * An expression may grow to this many nodes by merging. Measured on a thousand columns, each built on the one before:
 * the kernel plans it in 0.55 s with 32, 1.2 s with 64, 6 s with 150, and in 1.6 s with 8, by then for the depth of
 * nesting.
 */
const MAX_MERGED_SIZE = 32;

export function mergeProjections(plan: Plan): Plan {
  return rewriteUp(plan, (node) => {
    if (node.kind === "window" && node.input.kind === "window") return beside(node, node.input) ?? node;
    if (node.kind !== "project" || node.input.kind !== "project") return node;
    return merge(node, node.input) ?? node;
  });
}

/** Columns of two windows at once, where the second reads none of the first and rows of the same keys meet for both. */
function beside(outer: WindowNode, inner: WindowNode): WindowNode | null {
  if (outer.mode !== "with" || inner.mode !== "with") return null;
  const made = new Set(inner.items.map(({ name }) => name));
  for (const { name, expression } of outer.items) {
    const reads = columnsRead(expression, [...made]);
    if (made.has(name) || reads === null || [...reads].some((each) => made.has(each))) return null;
  }
  const items = [...inner.items, ...outer.items];
  const keys = [outer, inner, { items }].map((node) => commonPartition(node).length);
  return new Set(keys).size === 1 ? window(inner.input, "with", items, inner.operator) : null;
}

function merge(outer: ProjectNode, inner: ProjectNode): ProjectNode | null {
  if (outer.items.some(({ expression }) => hasRaw(expression))) return null;
  const definitions = new Map(inner.items.map(({ name, expression }) => [name, expression]));
  if (repeatsRaw(outer, inner, definitions)) return null;
  const items: NamedExpression[] = [];
  for (const { name, expression } of outer.items) {
    const merged = substitute(expression, definitions);
    if (expressionSize(merged) > Math.max(MAX_MERGED_SIZE, expressionSize(expression))) return null;
    items.push({ name, expression: merged });
  }
  const operator = outer.operator === inner.operator ? outer.operator : "select";
  if (outer.mode === "select") return project(inner.input, "select", items, operator);
  const all = new Map([
    ...definitions,
    ...items.map(({ name, expression }): [string, Expression] => [name, expression]),
  ]);
  const named = [...all].map(([name, expression]) => ({ name, expression }));
  return project(inner.input, inner.mode, named, operator);
}

/** Raw SQL may be volatile (`random()`): written twice it would be two values. */
function repeatsRaw(outer: ProjectNode, inner: ProjectNode, definitions: ReadonlyMap<string, Expression>): boolean {
  const rawNames = inner.items.filter(({ expression }) => hasRaw(expression)).map(({ name }) => name);
  if (rawNames.length === 0) return false;
  const replaced = new Set(outer.items.map(({ name }) => name));
  return rawNames.some((name) => {
    const kept = outer.mode === "with" && !replaced.has(name) && definitions.has(name) ? 1 : 0;
    const uses = outer.items.reduce((sum, { expression }) => sum + occurrences(expression, name), kept);
    return uses > 1;
  });
}

function occurrences(expression: Expression, name: string): number {
  if (expression.kind === "column") return expression.name === name ? 1 : 0;
  return namedColumns(expression).has(name) ? 2 : 0;
}
