/**
 * Names of operators for people, in texts and on pages: with the names of their functions. "range->map" of `addTax`
 * becomes "range->map(addTax)". The pages bundle this file: it imports nothing.
 */

const ARROW = "->";

/** `functions`: in the order of the name's parts, as `map(addTax)`, or only `map` for one without a name. */
export function operatorTitle(name: string, functions: readonly string[]): string {
  const left = [...functions];
  const parts = name.split(ARROW).map((part) => {
    const [next] = left;
    if (next === undefined || (next !== part && !next.startsWith(`${part}(`))) return part;
    left.shift();
    return next;
  });
  return parts.join(ARROW);
}
