/** A logical plan: a tree of immutable nodes, and the two ways rules walk it. */
import type { AggregateNode } from "./nodes/aggregate.ts";
import type { DistinctNode } from "./nodes/distinct.ts";
import type { DropNode } from "./nodes/drop.ts";
import type { DropNullNode } from "./nodes/drop-null.ts";
import type { ExplodeNode } from "./nodes/explode.ts";
import type { FillNullNode } from "./nodes/fill-null.ts";
import type { FilterNode } from "./nodes/filter.ts";
import type { FunctionNode } from "./nodes/function.ts";
import type { JoinNode } from "./nodes/join.ts";
import type { LimitNode } from "./nodes/limit.ts";
import type { ProjectNode } from "./nodes/project.ts";
import type { RenameNode } from "./nodes/rename.ts";
import type { RepartitionNode } from "./nodes/repartition.ts";
import type { SampleNode } from "./nodes/sample.ts";
import type { ScanNode } from "./nodes/scan.ts";
import type { ShuffleNode } from "./nodes/shuffle.ts";
import type { SortNode } from "./nodes/sort.ts";
import type { UnionNode } from "./nodes/union.ts";
import type { WindowNode } from "./nodes/window.ts";
import type { ZipNode } from "./nodes/zip.ts";

export type Plan =
  | ScanNode
  | ProjectNode
  | WindowNode
  | DropNode
  | RenameNode
  | DropNullNode
  | FillNullNode
  | FilterNode
  | FunctionNode
  | LimitNode
  | UnionNode
  | ExplodeNode
  | SampleNode
  | AggregateNode
  | DistinctNode
  | JoinNode
  | SortNode
  | ShuffleNode
  | RepartitionNode
  | ZipNode;

export function inputsOf(plan: Plan): readonly Plan[] {
  switch (plan.kind) {
    case "scan":
      return [];
    case "union":
      return plan.inputs;
    case "join":
    case "zip":
      return [plan.left, plan.right];
    default:
      return [plan.input];
  }
}

/** The same node with other inputs; the node itself if they are the same. */
export function withInputs(plan: Plan, inputs: readonly Plan[]): Plan {
  if (plan.kind === "scan") return plan;
  if (plan.kind === "join" || plan.kind === "zip") {
    const [left = plan.left, right = plan.right] = inputs;
    return left === plan.left && right === plan.right ? plan : Object.freeze({ ...plan, left, right });
  }
  if (plan.kind === "union") {
    return plan.inputs.every((input, i) => input === inputs[i]) ? plan : Object.freeze({ ...plan, inputs });
  }
  const [input] = inputs;
  return input === undefined || input === plan.input ? plan : Object.freeze({ ...plan, input });
}

/** Rewrites inputs first, then the node itself. */
export function rewriteUp(plan: Plan, rewrite: (plan: Plan) => Plan): Plan {
  return rewrite(
    withInputs(
      plan,
      inputsOf(plan).map((input) => rewriteUp(input, rewrite)),
    ),
  );
}

export function someNode(plan: Plan, test: (plan: Plan) => boolean): boolean {
  return test(plan) || inputsOf(plan).some((input) => someNode(input, test));
}
