/**
 * Makes one projection of two, by putting the inner expressions in the place of their names in the outer ones. A
 * thousand `withColumn` calls become a handful of SELECTs. Not always one: a column that is used again and again would
 * grow without limit.
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
 * Merging may make an expression grow to this many nodes. Measured with a thousand columns, each computed from the
 * previous one: the kernel plans them in 0.55 s with 32, 1.2 s with 64, 6 s with 150, and in 1.6 s with 8, where the
 * depth of nesting costs the time.
 */
const MAX_MERGED_SIZE = 32;

export function mergeProjections(plan: Plan): Plan {
  return rewriteUp(plan, (node) => {
    if (node.kind === "window" && node.input.kind === "window") return beside(node, node.input) ?? node;
    if (node.kind !== "project" || node.input.kind !== "project") return node;
    return merge(node, node.input) ?? node;
  });
}

/**
 * The columns of two windows in one node, if the second reads none of the first and both need rows with the same keys
 * together.
 */
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

/** Raw SQL may be volatile (`random()`): written twice, it would give two values. */
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
