/**
 * The ladder of a worker's memory: on which step it stands with so many bytes of its limit. Only arithmetic; what
 * happens on a step is the scheduler's. L is the limit; bytes are process memory, or managed memory where only that
 * counts.
 *
 *              > spill·L              > pause·L                 > terminate·L
 *    normal ─────────────▶ spilling ─────────────▶ paused ───────────────────▶ terminating ──▶ (the process ends)
 *       ◀────────────────      ◀──────────────────────
 *          < target·L             < (pause − 0.05)·L
 *
 * Every step is skipped where its threshold is false, and a reading may lead over several at once. Spilling goes on
 * while paused, and ends below spill·L where there is no target. At a threshold nothing happens, one byte beyond it
 * does.
 */
import type { Bytes, Pressure, Thresholds } from "../protocol/index.ts";

/** A paused worker goes on when it is so much of the limit below the threshold: else it would come and go. */
const RESUMES_BELOW = 0.05;

export interface Standing {
  readonly pressure: Pressure;
  /** Also while it is paused. */
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

/** A threshold as small as the distance has its half: nobody is ever below nothing. */
function resumesBelow(pause: number): number {
  return Math.max(pause - RESUMES_BELOW, pause / 2);
}

/** What spilling brings it below. */
export function spillsUntil(limit: Bytes, { target, spill }: Thresholds): Bytes {
  if (spill === false) return Number.POSITIVE_INFINITY;
  return (target === false ? spill : Math.min(target, spill)) * limit;
}
