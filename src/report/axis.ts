/** A horizontal time axis: from times to pixels, and the labels of the ticks. */
import type { Milliseconds } from "../protocol/index.ts";
import { Html, html } from "./html.ts";

export const WIDTH = 1000;

export interface Axis {
  readonly from: Milliseconds;
  readonly to: Milliseconds;
  x(at: Milliseconds): number;
}

export function axis(from: Milliseconds, to: Milliseconds): Axis {
  const span = Math.max(1, to - from);
  return { from, to: from + span, x: (at) => (Math.min(Math.max(at - from, 0), span) / span) * WIDTH };
}

const STEPS: readonly Milliseconds[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 12e4, 3e5, 6e5,
].concat([12e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5]);
const MOST_TICKS = 10;

/** Grid lines over the height of a drawing, with their times below it. */
export function ticks({ from, to, x }: Axis, height: number): Html {
  const step =
    STEPS.find((one) => (to - from) / one <= MOST_TICKS) ?? Math.ceil((to - from) / MOST_TICKS / 864e5) * 864e5;
  const parts: Html[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const place = x(at).toFixed(1);
    const anchor = x(at) > WIDTH - 30 ? "end" : x(at) < 30 ? "start" : "middle";
    parts.push(
      html`<line class="grid" x1="${place}" x2="${place}" y1="0" y2="${height}"/><text x="${place}" y="${height + 14}" text-anchor="${anchor}">${timeText(at, step)}</text>`,
    );
  }
  return new Html(parts.map(({ text }) => text).join(""));
}

function timeText(at: Milliseconds, step: Milliseconds): string {
  if (step < 1000) return `${(at / 1000).toFixed(step < 10 ? 3 : step < 100 ? 2 : 1)}s`;
  const seconds = Math.round(at / 1000);
  if (seconds < 120 && step < 60_000) return `${seconds}s`;
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
