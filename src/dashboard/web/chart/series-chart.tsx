/**
 * A chart over time, drawn by uPlot as stacked areas and lines. The legend is text; it shows the figures under the
 * cursor, or else the newest ones. The arrow keys move the cursor.
 */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { clock } from "../format.ts";
import type { SeriesBuffer } from "../live/index.ts";
import { useTheme } from "../theme.ts";
import { type Curve, colourOf } from "./curve.ts";
import { chartOptions, stack } from "./options.ts";

interface SeriesChartProps {
  readonly label: string;
  readonly series: SeriesBuffer;
  readonly curves: readonly Curve[];
  readonly epoch: number;
  readonly format: (value: number) => string;
  readonly height?: number;
}

export function SeriesChart({ label, series, curves, epoch, format, height = 220 }: SeriesChartProps) {
  const { dark } = useTheme();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const legend = useId();
  const key = curves.map(({ of, colour }) => `${of}=${colour}`).join();

  // New data goes into the existing chart.
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const width = () => Math.max(160, element.clientWidth);
    const options = chartOptions({ width: width(), height, curves, format, onCursor: setCursor });
    const made = new uPlot(options, stack(series, curves, epoch), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: width(), height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [dark, key, height, epoch]);

  useEffect(() => {
    plot.current?.setData(stack(series, curves, epoch));
  });

  const at = cursor === null || cursor >= series.t.length ? series.t.length - 1 : cursor;
  const time = series.t[at];
  return (
    <figure class="chart" aria-label={label}>
      <div
        ref={box}
        class="chart-box"
        role="img"
        aria-label={`${label}: a chart over time. The arrow keys move through it.`}
        aria-describedby={legend}
        tabIndex={0}
        onKeyDown={(event) => {
          const step = event.shiftKey ? 20 : 1;
          const move = event.key === "ArrowLeft" ? -step : event.key === "ArrowRight" ? step : null;
          if (move === null || plot.current === null) return;
          event.preventDefault();
          const next = Math.max(0, Math.min(series.t.length - 1, at + move));
          const left = plot.current.valToPos((epoch + (series.t[next] ?? 0)) / 1000, "x");
          plot.current.setCursor({ left, top: 10 });
          setCursor(next);
        }}
        onBlur={() => {
          plot.current?.setCursor({ left: -10, top: -10 });
          setCursor(null);
        }}
      />
      <figcaption>
        <dl class="legend" id={legend} aria-live={cursor === null ? "off" : "polite"}>
          <div class="legend-time">
            <dt class="sr">Time</dt>
            <dd>{time === undefined ? "no figures yet" : clock(epoch, time)}</dd>
          </div>
          {curves.map(({ of, label: name, colour, isArea, isDashed }) => (
            <div key={of}>
              <dt>
                <span
                  class={`swatch ${isArea === true ? "" : isDashed === true ? "dashed" : "line"}`}
                  style={isArea === true ? { background: colourOf(colour) } : { borderColor: colourOf(colour) }}
                />
                {name}
              </dt>
              <dd>{valueText(series.column(of)[at], format)}</dd>
            </div>
          ))}
        </dl>
      </figcaption>
    </figure>
  );
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "–" : format(value);
}
