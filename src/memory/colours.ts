/** The colour in which a worker's memory is shown (K10). Its memory on disk is always grey. */
import type { Bytes, MemoryColour, Pressure, Thresholds } from "../protocol/index.ts";

export const SPILLED_COLOUR: MemoryColour = "grey";

/**
 * The colour of `bytes` out of `limit`. Orange begins at the lower of `target` and `spill`: from there on blocks of the
 * worker may be spilled, even if its step on the ladder is still normal.
 */
export function colourOf(
  pressure: Pressure,
  isStopping: boolean,
  bytes: Bytes,
  limit: Bytes,
  { target, spill }: Thresholds,
): MemoryColour {
  if (isStopping || pressure === "paused" || pressure === "terminating") return "red";
  const from = Math.min(target || Number.POSITIVE_INFINITY, spill || Number.POSITIVE_INFINITY);
  return pressure === "spilling" || bytes > from * limit ? "orange" : "blue";
}
