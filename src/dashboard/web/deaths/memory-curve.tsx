/** A small curve of the memory before a death, with the limit that mattered. Its extremes are also given as text. */
import { bytes, clock, duration } from "../format.ts";

interface MemoryCurveProps {
  readonly title: string;
  readonly points: readonly (readonly [number, number])[];
  readonly end: number;
  readonly epoch: number;
  readonly line: { readonly at: number; readonly label: string } | null;
  /** Name of a CSS custom property. */
  readonly tone: string;
}

const WIDE = 680;
const HIGH = 150;
const LEFT = 62;
const BOTTOM = 20;
const TOP = 14;

export function MemoryCurve({ title, points, end, epoch, line, tone }: MemoryCurveProps) {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) {
    return (
      <figure class="curve">
        <figcaption>{title}</figcaption>
        <p class="muted">No reading of this moment is known.</p>
      </figure>
    );
  }
  const from = first[0];
  const to = Math.max(end, last[0], from + 1);
  const most = Math.max(line?.at ?? 0, ...points.map(([, size]) => size)) * 1.08 || 1;
  const x = (time: number) => LEFT + ((time - from) / (to - from)) * (WIDE - LEFT - 8);
  const y = (size: number) => TOP + (1 - size / most) * (HIGH - TOP - BOTTOM);
  const path = points
    .map(([time, size], index) => `${index === 0 ? "M" : "L"}${x(time).toFixed(1)} ${y(size).toFixed(1)}`)
    .join("");
  const floor = y(0);
  const words = `from ${bytes(first[1])} to ${bytes(last[1])} within ${duration(to - from)}`;
  return (
    <figure class="curve">
      <figcaption>
        {title}: {words}
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDE} ${HIGH}`}
        role="img"
        aria-label={`${title}: ${words}${line === null ? "" : `, ${line.label}`}`}
      >
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <path class="curve-grid" d={`M${LEFT} ${y((share * most) / 1.08)}H${WIDE - 8}`} />
            <text class="curve-text" x={LEFT - 6} y={y((share * most) / 1.08) + 4} text-anchor="end">
              {bytes((share * most) / 1.08)}
            </text>
          </g>
        ))}
        <path
          class="curve-area"
          style={{ fill: `var(--${tone})` }}
          d={`${path}L${x(last[0]).toFixed(1)} ${floor}L${x(from)} ${floor}Z`}
        />
        <path class="curve-line" style={{ stroke: `var(--${tone})` }} d={path} />
        {line !== null && (
          <>
            <path class="curve-limit" d={`M${LEFT} ${y(line.at)}H${WIDE - 8}`} />
            <text class="curve-text strong" x={LEFT + 4} y={y(line.at) - 4}>
              {line.label}
            </text>
          </>
        )}
        <path class="curve-end" d={`M${x(end)} ${TOP}V${floor}`} />
        <text class="curve-text" x={LEFT} y={HIGH - 5}>
          {clock(epoch, from)}
        </text>
        <text class="curve-text" x={WIDE - 8} y={HIGH - 5} text-anchor="end">
          {clock(epoch, end)} the end
        </text>
      </svg>
    </figure>
  );
}
