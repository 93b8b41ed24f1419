/**
 * Which columns a function provably returns unchanged: `({ ...row, tax: row.price * 0.2 })` passes all but `tax`
 * through. JavaScript has a single number type, so this is how a BIGINT stays a BIGINT. It is decided by the source
 * alone, never by values, because two tasks could see different values. Code that cannot be followed proves nothing.
 */
import { type InputUses, inputUses } from "./input-uses.ts";
import { lookInside } from "./inside.ts";
import type { FunctionSite, Lexical } from "./lexical.ts";
import { type PassedColumns, passedColumns, type ReturnedNames, returnedNames } from "./passed-shape.ts";
import { type Gives, results, TAKES } from "./results.ts";

export interface ToldColumns {
  readonly passes: PassedColumns | null;
  /** The columns that a result without rows would have had; not a proof. */
  readonly returns: ReturnedNames | null;
}

export const NOTHING_TOLD: ToldColumns = { passes: null, returns: null };

const NO_USES: InputUses = { sources: new Map(), changed: () => null };

export function columnsTold(lexical: Lexical, site: FunctionSite, gives: Gives): ToldColumns {
  const inside = lookInside(lexical, site);
  if (inside === null) return NOTHING_TOLD;
  const parameter = inside.node.params[0];
  const takes = TAKES[gives];
  const uses = parameter === undefined || takes === null ? NO_USES : inputUses(inside, parameter, takes);
  const { proof, returned } = results(inside, uses.sources, gives);
  const changed = uses.changed(returned);
  const isBatch = gives === "batch" || gives === "row batch";
  const likely = proof === null && isBatch ? results(inside, uses.sources, "group").proof : proof;
  return {
    passes: changed === null || gives === "group" ? null : passedColumns(proof, changed),
    returns: returnedNames(likely),
  };
}
