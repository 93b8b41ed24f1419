/**
 * The columns of two tables side by side, as a select list over `l` and `r`. Where the columns are known the list is
 * part of the SQL; else a mark stands for it, and whoever has the tables puts the list there.
 */
import { foldedName, nameFault, quoteIdentifier as q } from "../arrow/index.ts";
import { OptionError } from "../errors/index.ts";
import type { NameUse } from "./name-uses.ts";

export interface SideBySide {
  /** "join" or "zip". */
  readonly operator: string;
  /** Columns of the right that are left out: its keys. */
  readonly except: readonly string[];
  /** Left columns that the right has another value for where they are null, and the right's name. */
  readonly merged: readonly { readonly left: string; readonly right: string }[];
  /** Of a right column whose name the left has. */
  readonly suffix: string;
}

/** Both stand where tables stand, and may hold marks of those before it. */
export interface UnnamedColumns extends SideBySide {
  readonly mark: string;
  readonly left: string;
  readonly right: string;
  /** Whether the plan tells the columns of a side, so that they are known without a row of it. */
  readonly isPlanned: { readonly left: boolean; readonly right: boolean };
  /** What is done with the names of both. */
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

/** The name that a right column has beside the left's: one that differs only in case is one that the left has. */
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
