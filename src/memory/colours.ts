/**
 * The colour in which a worker's memory is shown (K10). What it has on disk is grey, whatever the worker's own colour.
 */
import type { Bytes, MemoryColour, Pressure, Thresholds } from "../protocol/index.ts";

export const SPILLED_COLOUR: MemoryColour = "grey";

/**
 * `bytes` of `limit`: from the lower of `target` and `spill` on its blocks may be leaving, also where it stands on no
 * step.
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
