/**
 * Every function, and every join and zip, is told what the operators above it do with the names of its columns. Where
 * these are not known before it runs, its task checks the names, as they are checked here where columns are known. Told
 * of the plan as the user wrote it: rules may take out what nobody reads, and a wrong name in it is wrong all the same.
 */
import type { NameUse } from "../protocol/index.ts";
import { aggregatesIn, type Expression, namedColumns } from "./expression/index.ts";
import { type FunctionNode, functionLabel } from "./nodes/function.ts";
import type { JoinNode } from "./nodes/join.ts";
import type { ZipNode } from "./nodes/zip.ts";
import { inputsOf, type Plan, withInputs } from "./plan.ts";

/** `above`: what is done with the names of this plan's columns, nearest operator first. */
export function withNameUses(plan: Plan, above: readonly NameUse[] = []): Plan {
  switch (plan.kind) {
    case "join":
    case "zip":
      return besides(plan, above);
    case "function":
      if (plan.form === "filter") return over(plan, [...usesOfFunction(plan), ...above]);
      return over(told(plan, above), usesOfFunction(plan));
    default:
      return over(plan, namesAll(plan) ? usesOf(plan) : [...usesOf(plan), ...above]);
  }
}

/** Its columns are known, whatever it is over. */
function namesAll(plan: Plan): boolean {
  return plan.kind === "aggregate" || ((plan.kind === "project" || plan.kind === "window") && plan.mode === "select");
}

function over(plan: Plan, uses: readonly NameUse[]): Plan {
  return withInputs(
    plan,
    inputsOf(plan).map((input) => withNameUses(input, uses)),
  );
}

function told(plan: FunctionNode, uses: readonly NameUse[]): FunctionNode {
  return uses.length === 0 ? plan : Object.freeze({ ...plan, options: { ...plan.options, uses } });
}

/** A semi or anti join has the columns of its left, so that who makes those is told. */
function besides(plan: JoinNode | ZipNode, above: readonly NameUse[]): Plan {
  const [left, right] = plan.kind === "join" ? [plan.leftOn, plan.rightOn] : [[], []];
  const ofLeft = plan.kind === "join" && (plan.how === "semi" || plan.how === "anti");
  const node = ofLeft || above.length === 0 ? plan : Object.freeze({ ...plan, uses: above });
  return withInputs(node, [
    withNameUses(plan.left, [...reading("join", left), ...(ofLeft ? above : [])]),
    withNameUses(plan.right, reading("join", right)),
  ]);
}

function usesOfFunction(plan: FunctionNode): readonly NameUse[] {
  const declared = plan.fn.columnsDeclared ? (plan.fn.columns ?? []) : [];
  return [...reading("groupBy", plan.options.keys ?? []), ...reading(functionLabel(plan), declared)];
}

function usesOf(plan: Exclude<Plan, JoinNode | ZipNode | FunctionNode>): readonly NameUse[] {
  switch (plan.kind) {
    case "project":
    case "window": {
      const { mode, operator, items } = plan;
      const reads = columnsIn(items);
      return mode === "select" ? reading(operator, reads) : [{ operator, reads, makes: items.map(({ name }) => name) }];
    }
    case "drop":
      return [{ operator: "drop", reads: plan.names, drops: plan.names }];
    case "rename":
      return [{ operator: "rename", reads: [...plan.names.keys()], renames: [...plan.names] }];
    case "dropNull":
      return reading("dropNull", plan.columns ?? []);
    case "fillNull":
      return plan.fill.kind === "columns" ? reading("fillNull", [...plan.fill.values.keys()]) : [];
    case "filter":
      return reading("filter", columnsIn([{ expression: plan.predicate }]));
    case "explode":
      return reading("explode", [plan.column]);
    case "distinct":
      return reading("distinct", plan.columns ?? []);
    case "sort":
      return reading("sort", columnsIn(plan.keys));
    case "repartition":
      return reading("repartition", plan.into.kind === "keys" ? plan.into.keys : []);
    case "aggregate": {
      // Outside of aggregates stand names of keys.
      const inside = plan.items.flatMap(({ expression }) => aggregatesIn(expression));
      const taken = columnsIn(inside.map((expression) => ({ expression })));
      return [...reading("groupBy", columnsIn(plan.keys)), ...reading("agg", taken)];
    }
    default:
      return [];
  }
}

function reading(operator: string, names: readonly string[]): readonly NameUse[] {
  return names.length === 0 ? [] : [{ operator, reads: names }];
}

function columnsIn(items: readonly { readonly expression: Expression }[]): readonly string[] {
  const names = new Set<string>();
  for (const { expression } of items) namedColumns(expression, names);
  return [...names];
}
