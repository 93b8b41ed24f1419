/** The column that sends each row to its partition, and the keys it is computed from. */
import { type Describe, isDescribable, type Plan, project, quoteIdentifier, union } from "../plan/index.ts";
import { PARTITION } from "../protocol/index.ts";
import { nested, type Select } from "./sql/select.ts";

export function withPartition(select: Select, partition: string, others = "*"): Select {
  return { ...nested(select), list: `${others}, CAST(${partition} AS INTEGER) AS ${quoteIdentifier(PARTITION)}` };
}

/** Rows with equal keys go to the same of `count`, nulls included. */
export function hashPartition(keys: readonly string[], count: number): string {
  return keys.length === 0 ? "0" : `hash(${keys.join(", ")}) % ${count}`;
}

/**
 * A key whose type is not the same in all blocks, or on both sides of a join, or not known: what is equal in SQL must be
 * hashed the same. Numbers go by their value, whatever their type; beyond that their text is as good.
 */
export function looseKey(name: string): string {
  const text = `CAST(${quoteIdentifier(name)} AS VARCHAR)`;
  return `coalesce(CAST(TRY_CAST(${text} AS DOUBLE) + 0 AS VARCHAR), ${text})`;
}

export interface Side {
  readonly plan: Plan;
  readonly keys: readonly string[];
}

/** The keys of each side as SQL, so that what is equal is hashed the same. */
export async function comparableKeys(
  sides: readonly Side[],
  describe: Describe | null,
): Promise<readonly (readonly string[])[]> {
  if (describe === null || !sides.every(({ plan }) => isDescribable(plan))) {
    return sides.map(({ keys }) => keys.map(looseKey));
  }
  const plans = sides.map(onlyKeys);
  const types = await Promise.all(plans.map(describe));
  const common = await describe(union(plans));
  return sides.map(({ keys }) =>
    keys.map((name, i) => {
      const own = new Set(types.map((side) => side[i]?.type));
      if (own.size === 1) return quoteIdentifier(name);
      return own.has("VARCHAR") ? looseKey(name) : `CAST(${quoteIdentifier(name)} AS ${common[i]?.type})`;
    }),
  );
}

function onlyKeys({ plan, keys }: Side): Plan {
  const items = keys.map((name, i) => ({ name: `k${i}`, expression: { kind: "column", name } as const }));
  return project(plan, "select", items, "select");
}
