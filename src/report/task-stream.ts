/**
 * The task stream: a row per slot and a colour per operator. Runs are aggregated per pixel, so the drawing's size does
 * not depend on the number of tasks. Each row has one path per colour.
 */
import { type Axis, ticks, WIDTH } from "./axis.ts";
import type { DiskRun, Gathered, Mark, Run } from "./gather.ts";
import { type Html, html } from "./html.ts";

const ROW = 14;
const MOST_ROWS = 200;
/** Pixels of all rows together. They bound the size of the drawing. */
const MOST_PIXELS = 120_000;
const MOST_MARKS = 500;
/** Operators beyond the palette share its last colour. */
const PALETTE = 12;

/** Colours that belong to no operator. */
const [FAILED, KILLED, DISK] = ["failed", "killed", "disk"] as const;
type Colour = number | typeof FAILED | typeof KILLED | typeof DISK;

export function taskStream({ lanes, runs, disk, marks, operators, state }: Gathered, axis: Axis): Html {
  if (runs.length === 0) return html`<p class="empty">No task has run.</p>`;
  const shown = lanes.slice(0, MOST_ROWS);
  const width = Math.min(WIDTH, Math.floor(MOST_PIXELS / (shown.length + 2)));
  const byLane = groupRuns(runs);
  const rows = shown.map(({ id, name }, index) => {
    const own = byLane.get(id) ?? [];
    return row(pixels(own, colourOfRun, width, axis), width, index, `${name}: ${own.length} runs of tasks`);
  });
  const kinds = ["spill", "restore"] as const;
  const diskRows = kinds.map((kind, index) => {
    const own = disk.filter((run) => run.kind === kind);
    return row(
      pixels(own, () => DISK, width, axis),
      width,
      shown.length + index,
      `${kind}: ${own.length} blocks`,
    );
  });
  const height = (shown.length + kinds.length) * ROW;
  const label = `Task stream: ${runs.length} runs of tasks in ${lanes.length} slots, ${operators.length} operators.`;
  const left = lanes.length - shown.length;
  return html`<figure><svg viewBox="0 0 ${WIDTH} ${height + 20}" role="img" aria-label="${label}" preserveAspectRatio="none" class="stream">
${ticks(axis, height)}${rows}${diskRows}${markLines(marks, axis, height)}</svg>
<figcaption>${legend(operators)}${left > 0 && html` <b>${left} more slots are left out.</b>`}${
    state.jobsBefore > 0 && html` Tasks of ${state.jobsBefore} earlier jobs may be left out.`
  }</figcaption></figure>`;
}

function groupRuns(runs: readonly Run[]): ReadonlyMap<number, readonly Run[]> {
  const groups = new Map<number, Run[]>();
  for (const run of runs) {
    const group = groups.get(run.lane);
    if (group === undefined) groups.set(run.lane, [run]);
    else group.push(run);
  }
  return groups;
}

function colourOfRun({ outcome, operator }: Run): Colour {
  return outcome === "failed" || outcome === "killed" ? outcome : Math.min(operator, PALETTE - 1);
}

/** The colour of each pixel: whatever filled most of it. A failure wins however short it was. */
function pixels<Span extends Run | DiskRun>(
  spans: readonly Span[],
  colour: (span: Span) => Colour,
  width: number,
  axis: Axis,
): (Colour | null)[] {
  const won: (Colour | null)[] = new Array(width).fill(null);
  const share = new Float64Array(width);
  for (const span of spans) {
    const [from, to] = [(axis.x(span.from) / WIDTH) * width, (axis.x(span.to) / WIDTH) * width];
    const own = colour(span);
    const weight = own === FAILED || own === KILLED ? 10 : 1;
    const last = Math.min(width - 1, Math.max(Math.floor(from), Math.ceil(to) - 1));
    for (let at = Math.floor(from); at <= last; at++) {
      const filled = (Math.min(at + 1, Math.max(to, from + 0.01)) - Math.max(at, from)) * weight;
      if (filled <= (share[at] ?? 0)) continue;
      share[at] = filled;
      won[at] = own;
    }
  }
  return won;
}

function row(won: readonly (Colour | null)[], width: number, index: number, title: string): Html {
  const paths = new Map<Colour, string>();
  const [scale, y] = [WIDTH / width, index * ROW + ROW / 2];
  for (let at = 0; at < width; ) {
    const colour = won[at] ?? null;
    let end = at + 1;
    while (end < width && won[end] === colour) end++;
    if (colour !== null) {
      paths.set(colour, `${paths.get(colour) ?? ""}M${round(at * scale)} ${y}H${round(end * scale)}`);
    }
    at = end;
  }
  const drawn = [...paths].map(([colour, path]) => html`<path class="run ${classOf(colour)}" d="${path}"/>`);
  return html`<g><title>${title}</title>${drawn}</g>`;
}

function classOf(colour: Colour): string {
  return typeof colour === "number" ? `op${colour}` : colour;
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function markLines(marks: readonly Mark[], axis: Axis, height: number): Html[] {
  return marks.slice(-MOST_MARKS).map(({ at, kind, text }) => {
    const x = axis.x(at).toFixed(1);
    return html`<line class="mark-${kind}" x1="${x}" x2="${x}" y1="0" y2="${height}"><title>${text}</title></line>`;
  });
}

function legend(operators: readonly string[]): Html[] {
  const named = operators.slice(0, PALETTE - 1).map((name, index) => key(`op${index}`, name));
  const rest = operators.slice(PALETTE - 1);
  const [only] = rest;
  if (rest.length === 1 && only !== undefined) named.push(key(`op${PALETTE - 1}`, only));
  else if (rest.length > 1) named.push(key(`op${PALETTE - 1}`, `${rest.length} more operators`));
  return [...named, key("disk", "disk"), key("failed", "failed"), key("killed", "worker died")];
}

function key(name: string, text: string): Html {
  return html`<span class="key"><i class="${name}"></i>${text}</span> `;
}
