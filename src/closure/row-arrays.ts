/**
 * Arrays of rows that a batch function gets: what their methods return, and which parameters of their callbacks are
 * rows. A method that is missing here may pass the rows to code out of sight, or mix others with them.
 */
import type { AnyNode, MemberExpression } from "acorn";
import { staticName } from "./lexical.ts";

/**
 * "rows": an array of the same rows, or of some; "row": one of them; "value": the results of the callback, or no row.
 */
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
  /** With one more parameter it would get the array itself. */
  readonly most: number;
}

/** Null if the method takes no callback. */
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
