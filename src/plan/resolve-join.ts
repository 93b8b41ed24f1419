/** Checks a join: its keys exist, can be equal, and the columns of both sides have names of their own. */
import { OptionError } from "../errors/index.ts";
import { checkNames, checkOwnNames } from "./checks.ts";
import { columnsOf } from "./columns.ts";
import { type Describe, isDescribable } from "./describable.ts";
import type { JoinNode } from "./nodes/join.ts";
import type { Plan } from "./plan.ts";
import type { Column } from "./source.ts";

export async function resolveJoin(plan: JoinNode, describe: Describe): Promise<Plan> {
  checkNames(plan.left, plan.leftOn, "join");
  checkNames(plan.right, plan.rightOn, "join");
  checkOwnNames(columnsOf(plan), "join");
  if (plan.leftOn.length > 0 && isDescribable(plan.left) && isDescribable(plan.right)) {
    checkTypes(plan, await typesOf(plan.left, describe), await typesOf(plan.right, describe));
  }
  return plan;
}

async function typesOf(plan: Plan, describe: Describe): Promise<ReadonlyMap<string, string>> {
  const columns: readonly Column[] = (plan.kind === "scan" ? plan.open?.columns : null) ?? (await describe(plan));
  return new Map(columns.map(({ name, type }) => [name, type]));
}

function checkTypes(plan: JoinNode, left: ReadonlyMap<string, string>, right: ReadonlyMap<string, string>): void {
  for (const [i, name] of plan.leftOn.entries()) {
    const other = plan.rightOn[i] ?? name;
    const a = left.get(name);
    const b = right.get(other);
    if (a === undefined || b === undefined || canEqual(familyOf(a), familyOf(b))) continue;
    throw new OptionError(
      `join: the key "${name}" is ${a} on the left and "${other}" ${b} on the right, which are never equal. Cast one of them: withColumn("${other}", col("${other}").cast("${a}")).`,
    );
  }
}

/** A column of nothing but nulls is equal to nothing, and no mistake. */
function canEqual(a: string, b: string): boolean {
  return a === b || a === "NULL" || b === "NULL";
}

/** Types whose values can be equal. */
function familyOf(type: string): string {
  if (/^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|FLOAT16|DOUBLE|DECIMAL\b.*)$/.test(type)) return "number";
  if (/^(DATE|TIMESTAMP\b.*)$/.test(type)) return "time";
  if (/^(VARCHAR|ENUM\b.*|UUID|JSON)$/.test(type)) return "text";
  return type;
}
