/** Checks the names of columns against those that exist, as a plan does when columns are known before. */
import { foldedName, nameFault } from "../arrow/index.ts";
import { OptionError, UnknownColumnError } from "../errors/index.ts";
import type { NameUse } from "../protocol/index.ts";
import { nearest } from "../units/index.ts";

/** Columns by folded name, in order; no two names may differ only in case. */
type Columns = Map<string, string>;

/**
 * `given`: whether `names` are all columns. If they are only some, only a name that differs from one of them in case is
 * wrong.
 */
export function checkNameUses(uses: readonly NameUse[], names: readonly string[], given: "all" | "some" = "all"): void {
  let columns: Columns = new Map(names.map((name) => [foldedName(name), name]));
  for (const use of uses) {
    for (const name of use.reads) {
      if (given === "all" || columns.has(foldedName(name))) assertThere(columns, name, use.operator);
    }
    for (const name of use.drops ?? []) columns.delete(foldedName(name));
    if (use.renames !== undefined) columns = renamed(columns, new Map(use.renames), use.operator);
    for (const name of use.makes ?? []) add(columns, name, use.operator);
  }
}

function assertThere(columns: Columns, name: string, operator: string): void {
  if (columns.get(foldedName(name)) === name) return;
  const available = [...columns.values()];
  throw new UnknownColumnError(name, available, operator, nearest(name, available));
}

/** The operator that makes two columns of the same name refuses them. */
function renamed(columns: Columns, names: ReadonlyMap<string, string>, operator: string): Columns {
  const after: Columns = new Map();
  for (const name of columns.values()) add(after, names.get(name) ?? name, operator);
  return after;
}

function add(columns: Columns, name: string, operator: string): void {
  const folded = foldedName(name);
  const there = columns.get(folded) ?? name;
  const fault = there === name ? null : nameFault([there, name]);
  if (fault !== null) throw new OptionError(`${operator}: ${fault.reason}`);
  columns.set(folded, name);
}
