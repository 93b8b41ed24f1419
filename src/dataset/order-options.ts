/** Sort keys with their directions and the place of nulls, checked, as `sort`, `topN` and windows take them. */
import { OptionError } from "../errors/index.ts";
import type { Expression, SortKey } from "../plan/index.ts";
import { describe, oneOf } from "./options.ts";

export interface SortOptions {
  /** One value for all keys, or one for each. Default false. */
  readonly descending?: boolean | readonly boolean[];
  /** Where nulls stand, in both directions. Default "last". */
  readonly nulls?: "first" | "last";
}

export function orderKeys(operator: string, keys: readonly Expression[], options: SortOptions): readonly SortKey[] {
  const nulls = oneOf(operator, "nulls", options.nulls ?? "last", ["first", "last"]);
  const descending = directions(operator, options.descending ?? false, keys.length);
  return keys.map((expression, i) => ({ expression, descending: descending[i] === true, nulls }));
}

function directions(operator: string, descending: unknown, keys: number): readonly boolean[] {
  if (typeof descending === "boolean") return Array.from({ length: keys }, () => descending);
  if (!Array.isArray(descending) || descending.some((each) => typeof each !== "boolean")) {
    throw new OptionError(
      `${operator}: descending is ${describe(descending)}; it must be true, false, or one of them for each key.`,
    );
  }
  if (descending.length === keys) return descending;
  throw new OptionError(
    `${operator}: descending has ${descending.length} values for ${keys} keys; give one, or one for each key.`,
  );
}
