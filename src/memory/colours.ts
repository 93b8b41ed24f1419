/** The colour in which a worker's memory is shown (K10). What it has on disk is grey, whatever the worker's own colour. */
import type { MemoryColour, Pressure } from "../protocol/index.ts";

export const SPILLED_COLOUR: MemoryColour = "grey";

export function colourOf(pressure: Pressure, isStopping: boolean): MemoryColour {
  if (isStopping || pressure === "paused" || pressure === "terminating") return "red";
  return pressure === "spilling" ? "orange" : "blue";
}
