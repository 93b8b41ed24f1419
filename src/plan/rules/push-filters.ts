/**
 * Moves conditions towards the reader and into the scan: through computed columns (the condition then computes them
 * itself), unions, renames, explodes of another column, keys of groups and windows, joins and orders. Never past limits
 * or samples, which would then see other rows. Never past functions, except a filter whose user has named the columns
 * it looks at.
 */
import {
  column,
  columnsRead,
  conjunction,
  conjuncts,
  type Expression,
  expressionSize,
  hasRaw,
  namedColumns,
  substitute,
} from "../expression/index.ts";
import type { AggregateNode } from "../nodes/aggregate.ts";
import { filter } from "../nodes/filter.ts";
import type { FunctionNode } from "../nodes/function.ts";
import type { JoinNode } from "../nodes/join.ts";
import type { ProjectNode } from "../nodes/project.ts";
import { union } from "../nodes/union.ts";
import type { WindowNode } from "../nodes/window.ts";
import { commonPartition } from "../partitions.ts";
import { type Plan, rewriteUp, withInputs } from "../plan.ts";
import { sidesOf } from "./join-conditions.ts";

/** If taking in computed columns would make a condition larger than this, it stays where it is. */
const MAX_CONDITION_SIZE = 64;

export function pushFilters(plan: Plan): Plan {
  return rewriteUp(plan, (node) => (node.kind === "filter" ? sink(node.input, conjuncts(node.predicate)) : node));
}

/** `plan` with the conditions applied as far down as possible. */
function sink(plan: Plan, conditions: readonly Expression[]): Plan {
  if (conditions.length === 0) return plan;
  switch (plan.kind) {
    case "scan":
      return Object.freeze({ ...plan, filters: [...plan.filters, ...conditions] });
    case "filter":
      return sink(plan.input, [...conjuncts(plan.predicate), ...conditions]);
    case "union":
      return union(plan.inputs.map((input) => sink(input, conditions)));
    case "project":
      return through(plan, conditions, (condition) => belowProject(plan, condition));
    case "window":
      return through(plan, conditions, (condition) => belowWindow(plan, condition));
    case "drop":
      return through(plan, conditions, (condition) => (hasRaw(condition) ? null : condition));
    case "rename": {
      const original = new Map([...plan.names].map(([from, to]) => [to, column(from)]));
      return through(plan, conditions, (condition) => (hasRaw(condition) ? null : substitute(condition, original)));
    }
    case "explode":
      return through(plan, conditions, (condition) => {
        const reads = columnsRead(condition, null);
        return reads === null || reads.has(plan.column) ? null : condition;
      });
    case "function":
      return through(plan, conditions, (condition) => (isPlainFilter(plan) && !hasRaw(condition) ? condition : null));
    case "aggregate":
      return through(plan, conditions, (condition) => belowAggregate(plan, condition));
    case "distinct":
      return through(plan, conditions, (condition) => {
        const reads = columnsRead(condition, null);
        const { columns } = plan;
        return reads !== null && (columns === null || isWithin(reads, columns)) ? condition : null;
      });
    case "sort":
    case "shuffle":
    case "repartition":
      return through(plan, conditions, (condition) => (hasRaw(condition) ? null : condition));
    case "join":
      return throughJoin(plan, conditions);
    default:
      return filter(plan, conjunction(conditions));
  }
}

/** Splits conditions into those that can be written below the node and those that stay above it. */
function through(
  plan: Exclude<Plan, { kind: "scan" | "union" | "join" | "zip" }>,
  conditions: readonly Expression[],
  below: (condition: Expression) => Expression | null,
): Plan {
  const moved: Expression[] = [];
  const stay: Expression[] = [];
  for (const condition of conditions) {
    const form = below(condition);
    if (form === null) stay.push(condition);
    else moved.push(form);
  }
  const under = withInputs(plan, [sink(plan.input, moved)]);
  return stay.length === 0 ? under : filter(under, conjunction(stay));
}

function throughJoin(plan: JoinNode, conditions: readonly Expression[]): Plan {
  const sides = conditions.map((condition) => sidesOf(plan, condition));
  const stay = conditions.filter((_, i) => sides[i]?.left === null && sides[i]?.right === null);
  const under = withInputs(plan, [
    sink(
      plan.left,
      sides.flatMap(({ left }) => left ?? []),
    ),
    sink(
      plan.right,
      sides.flatMap(({ right }) => right ?? []),
    ),
  ]);
  return stay.length === 0 ? under : filter(under, conjunction(stay));
}

/**
 * A filter function that looks only at its declared columns: rows that fail the condition would be left out after it
 * anyway.
 */
function isPlainFilter({ form, fn, options }: FunctionNode): boolean {
  return form === "filter" && fn.columnsDeclared && options.onError === "fail";
}

/**
 * A condition on keys alone leaves out whole groups. Without keys it stays: the aggregate has a row even if there are
 * no input rows.
 */
function belowAggregate({ keys }: AggregateNode, condition: Expression): Expression | null {
  const reads = columnsRead(condition, null);
  if (reads === null || reads.size === 0) return null;
  const definitions = new Map(keys.map(({ name, expression }) => [name, expression]));
  if (!isWithin(reads, [...definitions.keys()])) return null;
  return grown(condition, definitions);
}

/**
 * A condition on what all windows are partitioned by leaves out whole partitions. Any other condition would change what
 * the windows see.
 */
function belowWindow(plan: WindowNode, condition: Expression): Expression | null {
  const reads = columnsRead(condition, null);
  if (reads === null || reads.size === 0) return null;
  const keys = new Set(commonPartition(plan).flatMap((key) => (key.kind === "column" ? [key.name] : [])));
  const definitions = new Map(plan.items.map(({ name, expression }) => [name, expression]));
  for (const name of reads) {
    const from = definitions.get(name) ?? column(name);
    if (from.kind !== "column" || !keys.has(from.name)) return null;
  }
  return substitute(condition, definitions);
}

function isWithin(names: ReadonlySet<string>, allowed: readonly string[]): boolean {
  return [...names].every((name) => allowed.includes(name));
}

function belowProject(plan: ProjectNode, condition: Expression): Expression | null {
  const reads = columnsRead(condition, null);
  if (reads === null) return null;
  const definitions = new Map(plan.items.map(({ name, expression }) => [name, expression]));
  return grown(condition, definitions);
}

/**
 * The condition with the definitions of its columns put in; null if one is raw SQL (it may be volatile), or if the
 * condition would grow too large.
 */
function grown(condition: Expression, definitions: ReadonlyMap<string, Expression>): Expression | null {
  for (const name of namedColumns(condition)) {
    const definition = definitions.get(name);
    if (definition !== undefined && hasRaw(definition)) return null;
  }
  const form = substitute(condition, definitions);
  return expressionSize(form) <= Math.max(MAX_CONDITION_SIZE, expressionSize(condition)) ? form : null;
}
