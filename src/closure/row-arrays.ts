/**
 * Arrays of rows that a batch function is given: what their methods give, and which parameters of their callbacks are rows. A
 * method that is not named here lets the rows out of sight, or puts others among them.
 */
import type { AnyNode, MemberExpression } from "acorn";
import { staticName } from "./lexical.ts";

/** "rows": an array of the same rows, or of some; "row": one of them; "value": what the callback makes of them, or no row. */
type GivenByMethod = "rows" | "row" | "entries" | "value";

const GIVEN: ReadonlyMap<string, GivenByMethod> = new Map([
  ...named("rows", "filter reverse slice sort toReversed toSorted"),
  ...named("row", "at find findLast pop shift"),
  ...named("value", "every findIndex findLastIndex flatMap forEach keys map reduce reduceRight some"),
  ...named("entries", "entries"),
]);

export function givenByMethod(name: string): GivenByMethod | null {
  return GIVEN.get(name) ?? null;
}

interface CallbackRows {
  readonly at: readonly number[];
  /** With one parameter more it would be given the array itself. */
  readonly most: number;
}

/** Null where the method takes no callback. */
export function callbackRows(name: string): CallbackRows | null {
  if (name === "sort" || name === "toSorted") return { at: [0, 1], most: 2 };
  if (name === "reduce" || name === "reduceRight") return { at: [1], most: 3 };
  return /^(every|filter|find\w*|flatMap|forEach|map|some)$/.test(name) ? { at: [0], most: 2 } : null;
}

/** `rows[0]`, `rows[i]`. */
export function isIndex(member: MemberExpression): boolean {
  const name = staticName(member.property as AnyNode, member.computed);
  return member.computed && (name === null || /^\d+$/.test(name));
}

function named(gives: GivenByMethod, names: string): [string, GivenByMethod][] {
  return names.split(" ").map((name) => [name, gives]);
}
