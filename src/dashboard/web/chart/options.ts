/** The look of a chart, and how areas are stacked for uPlot, which draws its data as given. */
import uPlot from "uplot";
import type { SeriesBuffer } from "../live/index.ts";
import { token } from "../theme.ts";
import { type Curve, colourOf } from "./curve.ts";

interface ChartParts {
  readonly width: number;
  readonly height: number;
  readonly curves: readonly Curve[];
  readonly format: (value: number) => string;
  onCursor(index: number | null): void;
}

const FONT = "11px system-ui, sans-serif";

/**
 * Areas are drawn from the topmost to the lowest, each down to zero, so the visible part of an area is its own share.
 */
function drawn(curves: readonly Curve[]): readonly Curve[] {
  const areas = curves.filter(({ isArea }) => isArea === true);
  return [...areas.reverse(), ...curves.filter(({ isArea }) => isArea !== true)];
}

export function stack(series: SeriesBuffer, curves: readonly Curve[], epoch: number): uPlot.AlignedData {
  const times = series.t.map((time) => (epoch + time) / 1000);
  const sums = new Map<string, (number | null)[]>();
  let below: readonly (number | null)[] | null = null;
  for (const { of, isArea } of curves) {
    const column = series.column(of);
    const under: readonly (number | null)[] | null = isArea === true ? below : null;
    const sum: (number | null)[] =
      under === null ? [...column] : column.map((value, index) => (value ?? 0) + (under[index] ?? 0));
    sums.set(of, sum);
    if (isArea === true) below = sum;
  }
  return [times, ...drawn(curves).map(({ of }) => sums.get(of) ?? [])];
}

export function chartOptions({ width, height, curves, format, onCursor }: ChartParts): uPlot.Options {
  const grid = { stroke: token("grid"), width: 1 };
  const areCounts = curves.every(({ isStepped }) => isStepped === true);
  const axis = { stroke: token("muted"), grid, ticks: { ...grid, size: 4 }, font: FONT };
  return {
    width,
    height,
    pxAlign: 1,
    legend: { show: false },
    padding: [8, 22, 0, 0],
    cursor: { points: { size: 5 }, drag: { x: false, y: false }, y: false },
    scales: { x: { time: true }, y: { range: (_plot, _min, max) => [0, areCounts ? wholeTop(max) : niceTop(max)] } },
    axes: [
      { ...axis, size: 28, values: "{HH}:{mm}:{ss}", space: 70 },
      { ...axis, size: 68, splits: (_plot, _axis, _min, max) => quarters(max), values: (_p, all) => all.map(format) },
    ],
    series: [{}, ...drawn(curves).map(curveOptions)],
    hooks: {
      setCursor: [
        (plot) => onCursor(plot.cursor.left === undefined || plot.cursor.left < 0 ? null : (plot.cursor.idx ?? null)),
      ],
    },
  };
}

const STEPPED = uPlot.paths.stepped?.({ align: 1 });

function curveOptions({ colour, isArea, isDashed, isStepped, label }: Curve): uPlot.Series {
  const stroke = colourOf(colour);
  if (isArea === true) return { label, stroke, width: 1, fill: stroke, points: { show: false } };
  return {
    ...{ label, stroke, width: 2, points: { show: false } },
    ...(isDashed === true ? { dash: [6, 4] } : {}),
    ...(isStepped === true && STEPPED !== undefined ? { paths: STEPPED } : {}),
  };
}

/** The next of 1, 1.5, 2, 3, 4, 6, 8 × 2^n above the maximum, so that a quarter of it is a round number of bytes. */
function niceTop(max: number | null): number {
  if (max === null || !(max > 0)) return 1;
  const power = 2 ** Math.floor(Math.log2(max));
  const step = [1, 1.25, 1.5, 1.75, 2].find((times) => times * power >= max * 1.03) ?? 2.5;
  return step * power;
}

/** A quarter of it is a whole number. */
function wholeTop(max: number | null): number {
  return 4 * Math.max(1, Math.ceil((max ?? 0) / 4));
}

function quarters(max: number): number[] {
  return [0, 0.25, 0.5, 0.75, 1].map((share) => share * max);
}
