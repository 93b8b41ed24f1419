/** Checks a join: its keys exist and can be compared, and the columns of both sides get different names. */
import { checkKeyTypes, type TypeOf } from "../protocol/index.ts";
import { checkNames, checkOwnNames } from "./checks.ts";
import { columnType } from "./column-type.ts";
import { columnsOf } from "./columns.ts";
import { type Describe, isDescribable } from "./describable.ts";
import type { JoinNode } from "./nodes/join.ts";
import type { Plan } from "./plan.ts";
import type { Column } from "./source.ts";

export async function resolveJoin(plan: JoinNode, describe: Describe): Promise<Plan> {
  checkNames(plan.left, plan.leftOn, "join");
  checkNames(plan.right, plan.rightOn, "join");
  checkOwnNames(columnsOf(plan), "join");
  if (plan.leftOn.length > 0) {
    const [left, right] = [await typesOf(plan.left, describe), await typesOf(plan.right, describe)];
    const keys = plan.leftOn.map((name, i) => ({ left: name, right: plan.rightOn[i] ?? name }));
    checkKeyTypes(keys, left, right);
  }
  return plan;
}

async function typesOf(plan: Plan, describe: Describe): Promise<TypeOf> {
  if (!isDescribable(plan)) return (name) => columnType(plan, name);
  const columns: readonly Column[] = (plan.kind === "scan" ? plan.open?.columns : null) ?? (await describe(plan));
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  return (name) => types.get(name) ?? null;
}
