/**
 * Types that blocks cannot represent travel from task to task as another type: an ENUM as text, which has another order
 * and another hash; a HUGEINT as DECIMAL(38,0), of which `//` makes a DOUBLE. SQL over blocks casts these columns to
 * the types of the plan. Fed tables do so themselves (src/kernel/stored-table.ts), from the types they are declared
 * with.
 */
import { quoteIdentifier } from "../arrow/index.ts";
import {
  type Column,
  children,
  type Describe,
  type Expression,
  expressionsOf,
  isDescribable,
  type Plan,
  someNode,
} from "../plan/index.ts";
import { type Select, selectFrom, tableSql } from "./sql/select.ts";

const TRAVELS_AS_ANOTHER = /\b(ENUM|UUID|JSON|BIT|BIGNUM|U?HUGEINT|TIME WITH TIME ZONE)\b/;

/** The columns of the plan that arrive as another type; empty if only running the plan tells the types. */
export async function travelledColumns(plan: Plan, describe: Describe | null): Promise<readonly Column[]> {
  if (describe === null || !isDescribable(plan) || !someNode(plan, mayMakeOne)) return [];
  const columns = await describe(plan);
  return columns.filter(({ type }) => TRAVELS_AS_ANOTHER.test(type));
}

/**
 * Such a type comes from a source, a cast or raw SQL. Checked first, because asking the kernel is a round trip to a
 * worker.
 */
function mayMakeOne(node: Plan): boolean {
  if (node.kind === "scan") return node.open?.columns?.some(({ type }) => TRAVELS_AS_ANOTHER.test(type)) ?? false;
  return expressionsOf(node).some(mayBeOne);
}

function mayBeOne(expression: Expression): boolean {
  return expression.kind === "raw" || expression.kind === "cast" || children(expression).some(mayBeOne);
}

/** A SELECT over this one, in which the columns have their own types. */
export function restored(select: Select, columns: readonly Column[]): Select {
  if (columns.length === 0) return select;
  const casts = columns.map(
    ({ name, type }) => `CAST(${quoteIdentifier(name)} AS ${type}) AS ${quoteIdentifier(name)}`,
  );
  return selectFrom(`(SELECT * REPLACE (${casts.join(", ")}) FROM ${tableSql(select)})`, select);
}
