/**
 * Tells every function, join and zip what the operators above do with the names of its columns. If the columns are
 * unknown until it runs, its task checks the names, as they are checked here if columns are known. Uses the plan as the
 * user wrote it: rules may remove columns that nothing reads, but a wrong name stays an error.
 */
import type { NameUse } from "../protocol/index.ts";
import { aggregatesIn, type Expression, namedColumns } from "./expression/index.ts";
import { type FunctionNode, functionLabel } from "./nodes/function.ts";
import type { JoinNode } from "./nodes/join.ts";
import type { ZipNode } from "./nodes/zip.ts";
import { inputsOf, type Plan, withInputs } from "./plan.ts";
import type { Resolved } from "./resolve.ts";

/** The resolved plan. `above`: uses of its column names, nearest operator first. */
export function withNameUses(node: Resolved, above: readonly NameUse[] = []): Plan {
  const { written } = node;
  switch (written.kind) {
    case "join":
    case "zip":
      return besides(node, written, above);
    case "function":
      if (written.form === "filter") return over(node, [...usesOfFunction(written), ...above]);
      return told(over(node, usesOfFunction(written)), above);
    default:
      return over(node, namesAll(written) ? usesOf(written) : [...usesOf(written), ...above]);
  }
}

/** Whether the plan names all of its columns, whatever its input has. */
function namesAll(plan: Plan): boolean {
  return plan.kind === "aggregate" || ((plan.kind === "project" || plan.kind === "window") && plan.mode === "select");
}

/**
 * The node's resolved plan over inputs that know their uses. The resolved plan contains its resolved inputs somewhere.
 */
function over({ plan, inputs }: Resolved, uses: readonly NameUse[]): Plan {
  const tolds = new Map<Plan, Plan>();
  for (const input of inputs) tolds.set(input.plan, withNameUses(input, uses));
  return [...tolds].every(([input, told]) => input === told) ? plan : overTold(plan, tolds);
}

function overTold(plan: Plan, tolds: ReadonlyMap<Plan, Plan>): Plan {
  const told = tolds.get(plan);
  if (told !== undefined) return told;
  return withInputs(
    plan,
    inputsOf(plan).map((input) => overTold(input, tolds)),
  );
}

function told(plan: Plan, uses: readonly NameUse[]): Plan {
  if (plan.kind !== "function" || uses.length === 0) return plan;
  return Object.freeze({ ...plan, options: { ...plan.options, uses } });
}

/**
 * Resolving leaves joins and zips as they are. A semi or anti join has the columns of its left input, so the uses are
 * passed on to that input.
 */
function besides({ plan, inputs }: Resolved, written: JoinNode | ZipNode, above: readonly NameUse[]): Plan {
  const [keysLeft, keysRight] = written.kind === "join" ? [written.leftOn, written.rightOn] : [[], []];
  const ofLeft = written.kind === "join" && (written.how === "semi" || written.how === "anti");
  const uses = [[...reading("join", keysLeft), ...(ofLeft ? above : [])], reading("join", keysRight)];
  const over = withInputs(
    plan,
    inputs.map((input, side) => withNameUses(input, uses[side])),
  );
  return ofLeft || above.length === 0 ? over : Object.freeze({ ...over, uses: above });
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
      // Columns outside of aggregates are names of keys.
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
