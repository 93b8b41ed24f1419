/**
 * Which columns a function provably returns as they came: `({ ...row, tax: row.price * 0.2 })` passes all but `tax`.
 * JavaScript has one type of number, so this is how a BIGINT stays one. It is told from the source alone, never from
 * values: two tasks could see different ones. What cannot be followed proves nothing.
 */
import { inputUses } from "./input-uses.ts";
import { lookInside } from "./inside.ts";
import type { FunctionSite, Lexical } from "./lexical.ts";
import { type PassedColumns, passedColumns } from "./passed-shape.ts";
import { type Gives, results } from "./results.ts";

export function columnsPassed(lexical: Lexical, site: FunctionSite, gives: Gives): PassedColumns | null {
  const inside = lookInside(lexical, site);
  const parameter = inside?.node.params[0];
  if (inside === null || parameter === undefined) return null;
  const uses = inputUses(inside, parameter, gives === "batch");
  const { proof, returned } = results(inside, uses.sources, gives);
  const changed = uses.changed(returned);
  return changed === null ? null : passedColumns(proof, changed);
}
