/**
 * The columns of two tables side by side, as a select list over `l` and `r`. If the columns are known, the list is part
 * of the SQL. Otherwise a mark stands for it, and the task, which has the tables, replaces the mark by the list.
 */
import { foldedName, nameFault, quoteIdentifier as q } from "../arrow/index.ts";
import { OptionError } from "../errors/index.ts";
import type { NameUse } from "./name-uses.ts";

export interface SideBySide {
  /** "join" or "zip". */
  readonly operator: string;
  /** Columns of the right that are left out: its keys. */
  readonly except: readonly string[];
  /** Left columns that take the right's value where they are null, with the right column's name. */
  readonly merged: readonly { readonly left: string; readonly right: string }[];
  /** Appended to the name of a right column that the left has, too. */
  readonly suffix: string;
}

/** Both tables are SQL in the place of a table name, and may contain the marks before this one. */
export interface UnnamedColumns extends SideBySide {
  readonly mark: string;
  readonly left: string;
  readonly right: string;
  /** Whether the plan tells the columns of each side, so that they are known even without rows. */
  readonly isPlanned: { readonly left: boolean; readonly right: boolean };
  /** What the operators above do with the names of both sides. */
  readonly uses: readonly NameUse[];
}

export function sideBySide(spec: SideBySide, left: readonly string[], right: readonly string[]): string {
  const { operator, except, merged, suffix } = spec;
  assertOwnNames(namesSideBySide(spec, left, right), operator);
  const dropped = new Set(except);
  const others = new Map(merged.map((pair) => [pair.left, pair.right]));
  const items = left.map((name) => {
    const other = others.get(name);
    return other === undefined ? `l.${q(name)}` : `coalesce(l.${q(name)}, r.${q(other)}) AS ${q(name)}`;
  });
  const beside = besideNames(left, suffix);
  for (const name of right.filter((each) => !dropped.has(each))) {
    const shown = beside(name);
    items.push(shown === name ? `r.${q(name)}` : `r.${q(name)} AS ${q(shown)}`);
  }
  return items.join(", ");
}

export function namesSideBySide(
  spec: SideBySide,
  left: readonly string[],
  right: readonly string[],
): readonly string[] {
  const others = right.filter((name) => !spec.except.includes(name));
  return [...left, ...others.map(besideNames(left, spec.suffix))];
}

/** The name that a right column gets next to the left's. Names that differ only in case count as equal. */
export function besideNames(left: readonly string[], suffix: string): (name: string) => string {
  const taken = new Set(left.map(foldedName));
  return (name) => (taken.has(foldedName(name)) ? `${name}${suffix}` : name);
}

export function assertOwnNames(names: readonly string[], operator: string): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new OptionError(
      `${operator}: two columns would be called "${twice}". Give another suffix, or rename or drop one of them first.`,
    );
  }
  const fault = nameFault(names);
  if (fault !== null) throw new OptionError(`${operator}: ${fault.reason}`);
}
