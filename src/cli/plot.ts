/** A curve as text, drawn with block characters in a few rows. Times end at 0, on the right. */
import type { Bytes, Milliseconds } from "../protocol/index.ts";
import { formatDuration, formatSize } from "../units/index.ts";

const HEIGHT = 6;
const WIDTH = 60;
const EIGHTHS = " ▁▂▃▄▅▆▇█";

type Curve = readonly (readonly [Milliseconds, Bytes])[];

/** `limit` is drawn across the plot. Returns "" when there are too few points. */
export function plot(curve: Curve, limit: Bytes | null): string {
  const [first, last] = [curve[0], curve.at(-1)];
  if (first === undefined || last === undefined || curve.length < 2) return "";
  const most = Math.max(limit ?? 0, ...curve.map(([, bytes]) => bytes), 1);
  const columns = sampled(curve, first[0], Math.max(1, last[0] - first[0]));
  const limitRow = limit === null ? null : Math.min(HEIGHT - 1, Math.floor((limit / most) * HEIGHT));
  const lines = Array.from({ length: HEIGHT }, (_, index) => {
    const row = HEIGHT - 1 - index;
    const label =
      row === limitRow && limit !== null ? `${formatSize(limit)} limit` : row === HEIGHT - 1 ? formatSize(most) : "";
    const cells = columns.map((bytes) => cell(bytes, most, row, row === limitRow)).join("");
    return `${label.padStart(16)} │${cells}`;
  });
  const axis = `${" ".repeat(16)} └${"─".repeat(WIDTH)}`;
  const times = `${" ".repeat(18)}${`-${formatDuration(last[0] - first[0])}`.padEnd(WIDTH - 1)}0`;
  return `${[...lines, axis, times].join("\n")}\n`;
}

/** The value at each column, interpolated between readings. */
function sampled(curve: Curve, from: Milliseconds, span: Milliseconds): Bytes[] {
  let next = 1;
  return Array.from({ length: WIDTH }, (_, column) => {
    const at = from + (span * column) / (WIDTH - 1);
    while (next < curve.length - 1 && (curve[next]?.[0] ?? 0) < at) next++;
    const [before, after] = [curve[next - 1], curve[next]];
    if (before === undefined || after === undefined) return 0;
    const share = Math.min(1, Math.max(0, (at - before[0]) / Math.max(1, after[0] - before[0])));
    return before[1] + (after[1] - before[1]) * share;
  });
}

function cell(bytes: Bytes, most: Bytes, row: number, isLimit: boolean): string {
  const filled = Math.round((bytes / most) * HEIGHT * 8) - row * 8;
  if (filled <= 0) return isLimit ? "┄" : " ";
  return EIGHTHS[Math.min(8, filled)] ?? " ";
}
