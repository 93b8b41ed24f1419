/** What lies under a point of the task stream, in words. */
import type { SpanKind, TaskLane, TaskStream } from "../../api.ts";
import { clock, count, duration, plural, short } from "../format.ts";
import type { TipRow } from "../parts/tip.tsx";

type Span = TaskLane["spans"][number];

const KINDS: Readonly<Record<SpanKind, string>> = {
  task: "task",
  failed: "task that failed",
  killed: "task whose worker ended",
  retried: "task that is run again",
  spill: "blocks written to disk",
  restore: "blocks read from disk",
  transfer: "blocks moved between processes",
};

/** The span at a time. `slack` widens the search, because a span may be a pixel wide. */
export function spanAt(lane: TaskLane, time: number, slack: number): Span | null {
  let best: Span | null = null;
  let distance = slack;
  for (const span of lane.spans) {
    const off = time < span[0] ? span[0] - time : time > span[1] ? time - span[1] : 0;
    if (off > distance || (off === distance && best !== null)) continue;
    best = span;
    distance = off;
  }
  return best;
}

export function spanTitle(stream: TaskStream, [, , colour]: Span, lane: TaskLane): string {
  return colour < 0 ? lane.name : short(stream.operators[colour]?.name ?? lane.name, 120);
}

export function spanRows([start, end, , kind, tasks]: Span, lane: TaskLane, epoch: number): readonly TipRow[] {
  return [
    ["What", tasks > 1 ? `${count(tasks)} of: ${KINDS[kind]}` : KINDS[kind]],
    ["In", lane.name],
    ["From", clock(epoch, start, true)],
    ["To", clock(epoch, end, true)],
    ["Time", duration(end - start)],
  ];
}

export function laneWords({ name, spans }: TaskLane): string {
  const tasks = spans.reduce((sum, [, , colour, , many]) => sum + (colour < 0 ? 0 : many), 0);
  const bad = spans.filter(([, , , kind]) => kind === "killed" || kind === "failed" || kind === "retried").length;
  return `${name}: ${plural(tasks, "task")}${bad === 0 ? "" : `, ${count(bad)} of them killed, failed or run again`}`;
}
