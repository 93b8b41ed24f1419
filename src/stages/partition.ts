/** The column that sends each row to its partition, and the keys it is computed from. */
import { quoteIdentifier } from "../arrow/index.ts";
import { type Describe, isDescribable, type Plan, project, union } from "../plan/index.ts";
import { PARTITION } from "../protocol/index.ts";
import { hashKey } from "./keys.ts";
import { nested, type Select } from "./sql/select.ts";

export function withPartition(select: Select, partition: string, others = "*"): Select {
  return { ...nested(select), list: `${others}, CAST(${partition} AS INTEGER) AS ${quoteIdentifier(PARTITION)}` };
}

/** Rows with equal keys go to the same of `count` partitions; nulls count as equal. */
export function hashPartition(keys: readonly string[], count: number): string {
  return keys.length === 0 ? "0" : `hash(${keys.join(", ")}) % ${count}`;
}

const KEY = "__spillway_any_";
const ANY = "COLUMNS('(?s)(.*)')";

/** Rows that are equal in all columns go to the same of `count` partitions. Used when the columns are unknown. */
export function withAnyKeys(select: Select, count: number): Select {
  const keys = { ...nested(select), list: `*, ${hashKey(ANY)} AS '${KEY}\\1'` };
  const others = `COLUMNS(lambda name: NOT starts_with(name, '${KEY}'))`;
  return withPartition(keys, hashPartition([`*COLUMNS('^${KEY}')`], count), others);
}

export interface Side {
  readonly plan: Plan;
  readonly keys: readonly string[];
}

/** The keys of each side as SQL, so that equal keys have the same hash. */
export async function comparableKeys(
  sides: readonly Side[],
  describe: Describe | null,
): Promise<readonly (readonly string[])[]> {
  if (describe === null || !sides.every(({ plan }) => isDescribable(plan))) {
    return sides.map(({ keys }) => keys.map((name) => hashKey(quoteIdentifier(name))));
  }
  const plans = sides.map(onlyKeys);
  const types = await Promise.all(plans.map(describe));
  const common = await describe(union(plans));
  return sides.map(({ keys }) =>
    keys.map((name, i) => {
      const own = new Set(types.map((side) => side[i]?.type));
      if (own.size === 1) return quoteIdentifier(name);
      // A text is compared with a UUID as a UUID. A value that does not fit the common type becomes null here; the
      // comparison itself reports it.
      return `TRY_CAST(${quoteIdentifier(name)} AS ${own.has("UUID") ? "UUID" : common[i]?.type})`;
    }),
  );
}

function onlyKeys({ plan, keys }: Side): Plan {
  const items = keys.map((name, i) => ({ name: `k${i}`, expression: { kind: "column", name } as const }));
  return project(plan, "select", items, "select");
}
