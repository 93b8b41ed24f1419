/** The operators of a job as a graph from left to right. An operator's column is its distance from the sources. */
import type { JobView, OperatorTotals } from "../events/index.ts";
import type { OperatorStats } from "../protocol/index.ts";
import { formatDuration, formatSize } from "../units/index.ts";
import { type Html, html } from "./html.ts";

const [BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y] = [230, 58, 50, 16];
/** A larger graph would be unreadable. */
const MOST_OPERATORS = 60;
const MOST_LETTERS = 32;

interface Place {
  readonly column: number;
  readonly row: number;
}

/** Null when a graph would add nothing to the table, or would have too many operators. */
export function planGraph(job: JobView, stats: readonly OperatorStats[]): Html | null {
  const { operators } = job;
  if (operators.length < 2) return null;
  if (operators.length > MOST_OPERATORS) {
    return html`<p class="left">The graph of ${operators.length} operators is left out.</p>`;
  }
  const places = placesOf(operators);
  const columns = Math.max(...[...places.values()].map(({ column }) => column)) + 1;
  const rows = Math.max(...[...places.values()].map(({ row }) => row)) + 1;
  const slowest = stats.reduce((most, one) => (one.wall.total > most.wall.total ? one : most));
  const boxes = stats.map((operator) => box(operator, places.get(operator.id), operator === slowest));
  const edges = operators.flatMap(({ plan }) =>
    plan.inputs.map((input) => edge(places.get(input), places.get(plan.id))),
  );
  const [width, height] = [columns * (BOX_WIDTH + GAP_X) - GAP_X, rows * (BOX_HEIGHT + GAP_Y)];
  const label = `Plan of job ${job.id}: ${operators.length} operators.`;
  return html`<div class="scroll"><svg viewBox="-2 -2 ${width + 4} ${height}" style="min-width:${Math.min(width, 1400)}px" role="img" aria-label="${label}">${edges}${boxes}</svg></div>`;
}

function placesOf(operators: readonly OperatorTotals[]): ReadonlyMap<number, Place> {
  const places = new Map<number, Place>();
  const rows = new Map<number, number>();
  // Operators are listed after the operators that they read from.
  for (const { plan } of operators) {
    const column = Math.max(-1, ...plan.inputs.map((input) => places.get(input)?.column ?? -1)) + 1;
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    places.set(plan.id, { column, row });
  }
  return places;
}

function box(
  { name: whole, rowsOut, wall, peakMemory }: OperatorStats,
  place: Place | undefined,
  isSlowest: boolean,
): Html | null {
  if (place === undefined) return null;
  const [x, y] = corner(place);
  const name = whole.length > MOST_LETTERS ? `${whole.slice(0, MOST_LETTERS - 1)}…` : whole;
  const figures = `${rowsOut.total.toLocaleString("en")} rows, ${formatDuration(wall.total)}`;
  const memory = peakMemory > 0 ? `${formatSize(peakMemory)} at most` : "";
  return html`<g class="node ${isSlowest && "slowest"}" transform="translate(${x} ${y})"><title>${whole}${isSlowest && ": the most time of all"}</title>
<rect width="${BOX_WIDTH}" height="${BOX_HEIGHT}" rx="6"/><text x="10" y="18">${name}</text><text class="soft" x="10" y="34">${figures}</text><text class="soft" x="10" y="49">${memory}</text></g>`;
}

function edge(from: Place | undefined, to: Place | undefined): Html | null {
  if (from === undefined || to === undefined) return null;
  const [[x1, y1], [x2, y2]] = [corner(from), corner(to)];
  const [startX, startY, endY] = [x1 + BOX_WIDTH, y1 + BOX_HEIGHT / 2, y2 + BOX_HEIGHT / 2];
  const middle = (startX + x2) / 2;
  return html`<path class="edge" d="M${startX} ${startY}C${middle} ${startY} ${middle} ${endY} ${x2} ${endY}"/>`;
}

function corner({ column, row }: Place): readonly [x: number, y: number] {
  return [column * (BOX_WIDTH + GAP_X), row * (BOX_HEIGHT + GAP_Y)];
}
