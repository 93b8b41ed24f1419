/** Whether engines agree. Sums of doubles depend on the order of adding, so numbers may differ in the tenth digit. */
import type { Answer } from "../workload.ts";

const TOLERANCE = 1e-9;

/** What differs, by name; empty if the answers agree. */
export function differences(ours: Answer, theirs: Answer): string[] {
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...names]
    .filter((name) => !same(ours[name], theirs[name]))
    .map((name) => {
      return `${name}: ${JSON.stringify(ours[name])} against ${JSON.stringify(theirs[name])}`;
    });
}

function same(a: unknown, b: unknown): boolean {
  if (typeof a === "number" && typeof b === "number") {
    return a === b || Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
  }
  return a === b;
}
