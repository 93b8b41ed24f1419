/** Shows the raw SQL of a plan to the kernel's parser, and keeps the findings with each expression. */
import { type Expression, hasRaw, mapChildren, type RawSeen, rawsIn } from "./expression/index.ts";
import { inputsOf, type Plan, withInputs } from "./plan.ts";

/**
 * Findings by text. Throws if the syntax of a text is wrong. A text that cannot be taken apart for another reason has
 * no entry.
 */
export type Examine = (texts: ReadonlySet<string>) => Promise<ReadonlyMap<string, RawSeen>>;

const shown = new WeakMap<Plan, Plan>();

/** A node is shown to the parser once, and always leads to the same resulting node. */
export async function examined(plan: Plan, examine: Examine): Promise<Plan> {
  const known = shown.get(plan);
  if (known !== undefined) return known;
  const texts = new Set<string>();
  addRawTexts(plan, texts);
  return texts.size === 0 ? plan : withSeen(plan, await examine(texts));
}

function withSeen(plan: Plan, seen: ReadonlyMap<string, RawSeen>): Plan {
  const known = shown.get(plan);
  if (known !== undefined) return known;
  const over = withInputs(
    plan,
    inputsOf(plan).map((input) => withSeen(input, seen)),
  );
  const mapped = (expression: Expression): Expression => {
    if (expression.kind === "raw") return { ...expression, seen: seen.get(expression.sql) ?? null };
    return hasRaw(expression) ? mapChildren(expression, mapped) : expression;
  };
  const node = expressionsOf(plan).some(hasRaw) ? withExpressions(over, mapped) : over;
  shown.set(plan, node);
  return node;
}

function addRawTexts(plan: Plan, into: Set<string>): void {
  for (const { sql } of expressionsOf(plan).flatMap(rawsIn)) into.add(sql);
  for (const input of inputsOf(plan)) addRawTexts(input, into);
}

/** The node's own expressions. */
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
