/** What holds an operator back, in words. */
import type { OperatorCard } from "../../api.ts";
import { duration } from "../format.ts";

export function heldNow({ heldBy, heldSince, ended }: OperatorCard, now: number): string | null {
  return heldBy === null || ended ? null : `${heldBy}, for ${duration(now - heldSince)}`;
}

/** Everything that has held the operator back, the longest time first. */
export function heldSoFar({ heldBack }: OperatorCard): readonly (readonly [string, number])[] {
  return Object.entries(heldBack)
    .filter(([, time]) => time >= 1)
    .sort(([, one], [, two]) => two - one);
}
