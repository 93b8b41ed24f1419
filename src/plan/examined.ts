/** Raw SQL of a plan, shown to the kernel's parser: what it sees stays with each expression. */
import { type Expression, mapChildren, type RawSeen, rawsIn } from "./expression/index.ts";
import { inputsOf, type Plan, rewriteUp } from "./plan.ts";

/** By text; throws where the syntax of one is wrong. A text that cannot be taken apart otherwise is left out. */
export type Examine = (texts: ReadonlySet<string>) => Promise<ReadonlyMap<string, RawSeen>>;

export async function examined(plan: Plan, examine: Examine): Promise<Plan> {
  const texts = new Set(rawTexts(plan));
  if (texts.size === 0) return plan;
  const seen = await examine(texts);
  const shown = (expression: Expression): Expression => {
    if (expression.kind === "raw") return { ...expression, seen: seen.get(expression.sql) ?? null };
    return rawsIn(expression).length === 0 ? expression : mapChildren(expression, shown);
  };
  return rewriteUp(plan, (node) => withExpressions(node, shown));
}

function rawTexts(plan: Plan): readonly string[] {
  const own = expressionsOf(plan).flatMap(rawsIn);
  return [...own.map(({ sql }) => sql), ...inputsOf(plan).flatMap(rawTexts)];
}

/** The expressions that the node itself has. */
export function expressionsOf(plan: Plan): readonly Expression[] {
  switch (plan.kind) {
    case "filter":
      return [plan.predicate];
    case "project":
    case "window":
      return plan.items.map(({ expression }) => expression);
    case "aggregate":
      return [...plan.keys, ...plan.items].map(({ expression }) => expression);
    case "sort":
      return plan.keys.map(({ expression }) => expression);
    default:
      return [];
  }
}

function withExpressions(plan: Plan, map: (expression: Expression) => Expression): Plan {
  const each = <T extends { readonly expression: Expression }>(item: T): T => ({
    ...item,
    expression: map(item.expression),
  });
  switch (plan.kind) {
    case "filter":
      return Object.freeze({ ...plan, predicate: map(plan.predicate) });
    case "project":
    case "window":
      return Object.freeze({ ...plan, items: plan.items.map(each) });
    case "aggregate":
      return Object.freeze({ ...plan, keys: plan.keys.map(each), items: plan.items.map(each) });
    case "sort":
      return Object.freeze({ ...plan, keys: plan.keys.map(each) });
    default:
      return plan;
  }
}
