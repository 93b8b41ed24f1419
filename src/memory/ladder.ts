/**
 * The ladder of a worker's memory: which step a worker is on, given its bytes and its limit. Only arithmetic; the
 * scheduler decides what happens on a step. L is the limit; bytes are process memory, or managed memory where only
 * that counts.
 *
 *              > spill·L              > pause·L                 > terminate·L
 *    normal ─────────────▶ spilling ─────────────▶ paused ───────────────────▶ terminating ──▶ (the process ends)
 *       ◀────────────────      ◀──────────────────────
 *          < target·L             < (pause − 0.05)·L
 *
 * A step is skipped if its threshold is false, and one reading may lead over several steps. Spilling goes on while the
 * worker is paused; it ends below spill·L if there is no target. The step changes one byte beyond a threshold, not at
 * it.
 */
import type { Bytes, Pressure, Thresholds } from "../protocol/index.ts";

/**
 * A paused worker resumes at this share of its limit below the threshold. Without the distance it would pause and
 * resume all the time.
 */
const RESUMES_BELOW = 0.05;

export interface Standing {
  readonly pressure: Pressure;
  /** Whether blocks are spilled on this step; also true while the worker is paused. */
  readonly spills: boolean;
}

export const GROUND: Standing = { pressure: "normal", spills: false };

export function climb(from: Standing, bytes: Bytes, limit: Bytes, thresholds: Thresholds): Standing {
  const { spill, pause, terminate } = thresholds;
  const spills = spill !== false && (from.spills ? bytes >= spillsUntil(limit, thresholds) : bytes > spill * limit);
  if (from.pressure === "terminating" || (terminate !== false && bytes > terminate * limit)) {
    return { pressure: "terminating", spills };
  }
  const wasPaused = from.pressure === "paused";
  const paused = pause !== false && (wasPaused ? bytes >= resumesBelow(pause) * limit : bytes > pause * limit);
  return { pressure: paused ? "paused" : spills ? "spilling" : "normal", spills };
}

/** A threshold as small as the distance resumes at half of itself, because no reading is below zero. */
function resumesBelow(pause: number): number {
  return Math.max(pause - RESUMES_BELOW, pause / 2);
}

/** Spilling goes on until the memory is below this. */
export function spillsUntil(limit: Bytes, { target, spill }: Thresholds): Bytes {
  if (spill === false) return Number.POSITIVE_INFINITY;
  return (target === false ? spill : Math.min(target, spill)) * limit;
}
