/**
 * The task stream between two times, as rectangles. Spans that share a pixel are merged, so a million tasks become a
 * few rectangles per pixel. A rectangle takes the colour of its longest task and the most severe of its kinds.
 */
import type { Milliseconds } from "../../protocol/index.ts";
import type { SpanKind, TaskLane, TaskStream } from "../api.ts";
import { KINDS, type SessionModel } from "../model/index.ts";

export interface TimeRange {
  readonly from: Milliseconds;
  readonly to: Milliseconds;
  /** Width of the drawing in pixels. */
  readonly width: number;
}

/** A browser draws this many rectangles at once. With many lanes, each lane gets fewer pixels. */
const MOST_PIXELS = 60_000;
const WIDEST = 4_000;

interface Rectangle {
  start: number;
  end: number;
  colour: number;
  kind: number;
  tasks: number;
  /** Time of the task that gave the rectangle its colour. */
  longest: number;
}

export function taskStream(model: SessionModel, { from, to, width }: TimeRange): TaskStream {
  const lanes = model.lanes.all.map(() => [] as Rectangle[]);
  const pixels = Math.max(1, Math.min(width, WIDEST, MOST_PIXELS / Math.max(1, lanes.length)));
  const scale = Math.max(to - from, 1) / pixels;
  const add = (start: number, end: number, lane: number, colour: number, kind: number) => {
    const row = lanes[lane];
    if (row !== undefined) put(row, start, end, colour, kind, from, scale);
  };
  model.spans.between(from, to, add);
  addRunning(model, to, add);
  const used = [...new Set(lanes.flatMap((row) => row.map(({ colour }) => colour)))].filter((colour) => colour >= 0);
  const places = new Map(used.map((colour, place) => [colour, place]));
  return {
    from,
    to,
    operators: used.map((colour) => model.colours[colour] ?? { key: "", name: "" }),
    lanes: model.lanes.all.map(({ name, kind }, at) => ({
      name,
      kind,
      spans: (lanes[at] ?? []).map((one) => shown(one, places)),
    })),
    leftOut: model.spans.leftOut,
  };
}

function addRunning(
  model: SessionModel,
  to: Milliseconds,
  add: (start: number, end: number, lane: number, colour: number, kind: number) => void,
): void {
  const now = Math.min(model.time, to);
  for (const { task: id, id: worker } of model.now.workers.values()) {
    const task = id === null ? undefined : model.now.tasks.get(id);
    const lane = model.lanes.of(worker);
    if (task === undefined || lane === undefined) continue;
    const start = task.startedAt ?? task.since;
    if (start <= now) add(start, now, lane.id, model.colourOf(task.job, task.operator), KINDS.indexOf("task"));
  }
  for (const { kind, since } of model.disk.now()) {
    if (since <= now) add(since, now, model.lanes.single("disk").id, -1, KINDS.indexOf(kind));
  }
}

/**
 * Merges a span into the last rectangle of its lane, or adds a rectangle after that one. Called for every span: objects
 * and closures for each of them would cost more than all the rest.
 */
function put(
  row: Rectangle[],
  start: Milliseconds,
  end: Milliseconds,
  colour: number,
  kind: number,
  from: Milliseconds,
  scale: number,
): void {
  const last = row.at(-1);
  const longest = end - start;
  const first = Math.floor((start - from) / scale);
  const isSmall = Math.floor((end - from) / scale) - first < 1;
  if (last === undefined || !takesIn(last, first, isSmall, last.colour === colour && last.kind === kind, from, scale)) {
    row.push({ start, end, colour, kind, tasks: 1, longest });
    return;
  }
  last.start = Math.min(last.start, start);
  last.end = Math.max(last.end, end);
  last.tasks += 1;
  last.kind = Math.max(last.kind, kind);
  if (longest <= last.longest) return;
  last.longest = longest;
  last.colour = colour;
}

/** Two rectangles that are both wider than a pixel stay separate, however close they are. */
function takesIn(
  last: Rectangle,
  first: number,
  isSmall: boolean,
  isAlike: boolean,
  from: Milliseconds,
  scale: number,
): boolean {
  const lastEnd = Math.floor((last.end - from) / scale);
  if (first > lastEnd + (isAlike ? 1 : 0)) return false;
  const isLastSmall = lastEnd - Math.floor((last.start - from) / scale) < 1;
  return isSmall ? isLastSmall || isAlike : isLastSmall && isAlike;
}

function shown({ start, end, colour, kind, tasks }: Rectangle, places: ReadonlyMap<number, number>) {
  const name: SpanKind = KINDS[kind] ?? "task";
  const span: TaskLane["spans"][number] = [tenths(start), tenths(end), places.get(colour) ?? -1, name, tasks];
  return span;
}

function tenths(at: Milliseconds): Milliseconds {
  return Math.round(at * 10) / 10;
}
