/**
 * Moves conditions towards the reader: through computed columns (which they then compute themselves), unions, renames,
 * and explodes of another column, into the scan. Never past functions, limits or samples: those see other rows then.
 */
import {
  column,
  columnsRead,
  conjunction,
  conjuncts,
  type Expression,
  expressionSize,
  hasRaw,
  substitute,
} from "../expression/index.ts";
import { filter } from "../nodes/filter.ts";
import type { ProjectNode } from "../nodes/project.ts";
import { union } from "../nodes/union.ts";
import { type Plan, rewriteUp, withInputs } from "../plan.ts";

/** A condition that would grow beyond this by taking in what it compares is left where it is. */
const MAX_CONDITION_SIZE = 64;

export function pushFilters(plan: Plan): Plan {
  return rewriteUp(plan, (node) => (node.kind === "filter" ? sink(node.input, conjuncts(node.predicate)) : node));
}

/** `plan` with the conditions applied as far down as they go. */
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
    default:
      return filter(plan, conjunction(conditions));
  }
}

/** Splits conditions into those that have a form below the node and those that stay above it. */
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

function belowProject(plan: ProjectNode, condition: Expression): Expression | null {
  const reads = columnsRead(condition, null);
  if (reads === null) return null;
  const definitions = new Map(plan.items.map(({ name, expression }) => [name, expression]));
  for (const name of reads) {
    const definition = definitions.get(name);
    if (definition !== undefined && hasRaw(definition)) return null;
  }
  const form = substitute(condition, definitions);
  return expressionSize(form) <= Math.max(MAX_CONDITION_SIZE, expressionSize(condition)) ? form : null;
}
