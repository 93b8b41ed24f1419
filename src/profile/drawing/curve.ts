/** The worker's memory over time, with a mark at the shown view. A click shows the nearest view. */
import type { DrawnProfile } from "./flame-draw.ts";

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT] = [1000, 70];

interface Curve {
  /** Null when there are too few points for a curve. */
  readonly element: Element | null;
  select(view: number): void;
}

export function drawCurve({ curve, moments = [] }: DrawnProfile, show: (view: number) => void): Curve {
  const last = curve.at(-1)?.[0] ?? 0;
  const highest = curve.reduce((most, [, bytes]) => Math.max(most, bytes), 1);
  if (curve.length < 2 || last === 0) return { element: null, select() {} };
  const x = (time: number) => (WIDTH * Math.min(time, last)) / last;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "flame-curve");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Memory of the worker over ${(last / 1000).toFixed(1)} s`);
  const path = document.createElementNS(SVG, "path");
  const points = curve.map(
    ([time, bytes]) => `${x(time).toFixed(1)},${(HEIGHT - (HEIGHT * bytes) / highest).toFixed(1)}`,
  );
  path.setAttribute("d", `M${points.join("L")}`);
  const mark = document.createElementNS(SVG, "line");
  mark.setAttribute("y1", "0");
  mark.setAttribute("y2", String(HEIGHT));
  svg.append(path, mark);
  svg.addEventListener("click", (event) => {
    const { left, width } = svg.getBoundingClientRect();
    const time = (last * (event.clientX - left)) / width;
    show(nearest(moments, time));
  });
  return {
    element: svg,
    select(view) {
      const at = x(moments[view] ?? 0);
      mark.setAttribute("x1", String(at));
      mark.setAttribute("x2", String(at));
    },
  };
}

function nearest(moments: readonly number[], time: number): number {
  let best = 0;
  for (const [i, at] of moments.entries()) {
    if (Math.abs(at - time) < Math.abs((moments[best] ?? 0) - time)) best = i;
  }
  return best;
}
