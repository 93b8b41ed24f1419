/** Memory over time by kind, as stacked areas. Spilled blocks are grey and lie on top. */
import type { Bytes, Milliseconds } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";
import { type Axis, ticks, WIDTH } from "./axis.ts";
import type { MemoryPoint } from "./gather.ts";
import { Html, html } from "./html.ts";

const HEIGHT = 220;
/** More points would fall on the same pixels. */
const MOST_POINTS = 500;

const KINDS = [
  ["managed", "managed: blocks and what workers are answerable for"],
  ["unmanaged", "unmanaged"],
  ["recent", "unmanaged, recent"],
  ["program", "program"],
  ["supervisor", "supervisor"],
  ["spilled", "spilled, on disk"],
] as const;

export function memoryChart(points: readonly MemoryPoint[], axis: Axis): Html {
  if (points.length === 0) return html`<p class="empty">No reading of memory was recorded.</p>`;
  const shown = thinned(points);
  const most = Math.max(1, ...shown.map(sum));
  let below = shown.map(() => 0);
  const areas = KINDS.map(([kind, name]) => {
    const above = shown.map((point, index) => (below[index] ?? 0) + point[kind]);
    const area = areaOf(shown, below, above, most, axis);
    const peak = Math.max(...shown.map((point) => point[kind]));
    below = above;
    return html`<path class="kind-${kind}" d="${area}"><title>${name}: at most ${formatSize(peak)}</title></path>`;
  });
  const total = formatSize(most);
  const label = `Memory over time by kind; at most ${total} together, disk included.`;
  return html`<figure><svg viewBox="0 -12 ${WIDTH} ${HEIGHT + 32}" role="img" aria-label="${label}">
${ticks(axis, HEIGHT)}${areas}<text x="2" y="-2">${total}</text></svg>
<figcaption>${legend()}</figcaption></figure>`;
}

/** Keeps the fullest point of each stretch, so that every peak stays visible. */
function thinned(points: readonly MemoryPoint[]): readonly MemoryPoint[] {
  if (points.length <= MOST_POINTS) return points;
  const size = points.length / MOST_POINTS;
  return Array.from({ length: MOST_POINTS }, (_, index) => {
    const part = points.slice(Math.floor(index * size), Math.floor((index + 1) * size));
    return part.reduce((fullest, point) => (sum(point) > sum(fullest) ? point : fullest));
  });
}

function sum(point: MemoryPoint): Bytes {
  return KINDS.reduce((total, [kind]) => total + point[kind], 0);
}

function areaOf(
  points: readonly MemoryPoint[],
  below: readonly Bytes[],
  above: readonly Bytes[],
  most: Bytes,
  axis: Axis,
): string {
  const place = (at: Milliseconds, bytes: Bytes) =>
    `${axis.x(at).toFixed(1)} ${(HEIGHT - (bytes / most) * HEIGHT).toFixed(1)}`;
  const top = points.map(({ at }, index) => place(at, above[index] ?? 0));
  const bottom = points.map(({ at }, index) => place(at, below[index] ?? 0)).reverse();
  return `M${[...top, ...bottom].join("L")}Z`;
}

function legend(): Html {
  return new Html(
    KINDS.map(([kind, name]) => html`<span class="key"><i class="kind-${kind}"></i>${name}</span>`.text).join(" "),
  );
}

/** A small line chart of a few points, with `limit` drawn across it. */
export function curveChart(
  curve: readonly (readonly [Milliseconds, Bytes])[],
  limit: Bytes | null,
  name: string,
): Html | null {
  const [first, last] = [curve[0], curve.at(-1)];
  if (first === undefined || last === undefined || curve.length < 2) return null;
  const [width, height] = [320, 90];
  const peak = Math.max(...curve.map(([, bytes]) => bytes));
  const most = Math.max(peak, limit ?? 0, 1) * 1.05;
  const x = (at: Milliseconds) => (((at - first[0]) / Math.max(1, last[0] - first[0])) * width).toFixed(1);
  const y = (bytes: Bytes) => (height - (bytes / most) * height).toFixed(1);
  const path = curve.map(([at, bytes]) => `${x(at)} ${y(bytes)}`).join("L");
  const line =
    limit === null ? null : html`<line class="limit" x1="0" x2="${width}" y1="${y(limit)}" y2="${y(limit)}"/>`;
  const said = limit === null ? "" : `, limit ${formatSize(limit)}`;
  const label = `${name}: from ${formatSize(first[1])} to ${formatSize(last[1])}, at most ${formatSize(peak)}${said}`;
  return html`<figure class="curve"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${line}<path class="line" d="M${path}"/></svg><figcaption>${label}, in ${((last[0] - first[0]) / 1000).toFixed(1)} s</figcaption></figure>`;
}
