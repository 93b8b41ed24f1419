/**
 * The task stream: which task ran when, and in which slot. The server merges the spans that share a pixel, so a hundred
 * thousand tasks become a few thousand rectangles.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { TaskStream } from "../../api.ts";
import { ask } from "../fetching.ts";
import { clock, count, plural } from "../format.ts";
import { useLive } from "../live/index.ts";
import { Empty, Failure, Waiting } from "../parts/empty.tsx";
import { Panel } from "../parts/panel.tsx";
import { StreamCanvas } from "./canvas.tsx";
import { StreamLegend } from "./legend.tsx";
import { everything, firstView, followed, type View, zoomed } from "./view.ts";

const BETWEEN_QUESTIONS = 700;

export function StreamPanel() {
  const { session } = useLive("session");
  return (
    <Panel title="Task stream" class="stream">
      {session === null ? <Waiting what="the session" /> : <Stream />}
    </Panel>
  );
}

function Stream() {
  const { session, totals } = useLive("session", "totals");
  const now = session?.at ?? 0;
  const isRunning = session?.status === "running";
  const [kept, setView] = useState<View>(() => firstView(now, isRunning));
  const [width, setWidth] = useState(0);
  const view = followed(kept, now);
  const { stream, error } = useStream(view, width, isRunning);
  // While the view follows, it draws the range of the last answer: one drawing per answer, always with its newest
  // tasks.
  const drawn = view.follows && stream !== null ? { ...view, from: stream.from, to: stream.to } : view;

  const tasks = totals?.tasks;
  const isEmpty = stream !== null && stream.lanes.length === 0;
  const change = (next: View) => setView(next);
  return (
    <>
      <div class="stream-tools" role="toolbar" aria-label="Piece of time shown">
        <button type="button" onClick={() => change(zoomed(view, 0.5, view.follows ? 1 : 0.5, now))}>
          <span aria-hidden="true">+</span> Closer
        </button>
        <button type="button" onClick={() => change(zoomed(view, 2, view.follows ? 1 : 0.5, now))}>
          <span aria-hidden="true">−</span> Further
        </button>
        <button type="button" onClick={() => change(everything(now))}>
          All
        </button>
        {isRunning && (
          <button
            type="button"
            aria-pressed={view.follows}
            onClick={() => change(view.follows ? { ...view, follows: false } : { ...firstView(now, true) })}
          >
            Follow
          </button>
        )}
        <span class="muted stream-range">
          {clock(session?.epoch ?? 0, view.from)} to {clock(session?.epoch ?? 0, view.to)}
          {stream !== null && stream.leftOut > 0 && `, ${plural(stream.leftOut, "older task")} left out`}
        </span>
      </div>
      {error !== null && <Failure what="The task stream" error={error} />}
      {isEmpty ? (
        <Empty title="No task has run.">
          Each worker has a row here, with a rectangle per task in its operator's colour.
        </Empty>
      ) : (
        <StreamCanvas
          stream={stream}
          view={drawn}
          now={now}
          epoch={session?.epoch ?? 0}
          onView={change}
          onWidth={setWidth}
          label={`Task stream: ${count(tasks?.done ?? 0)} tasks done, ${count(tasks?.running ?? 0)} running`}
        />
      )}
      {stream !== null && !isEmpty && <StreamLegend stream={stream} />}
    </>
  );
}

/** Fetches again after the view has moved, and regularly while it follows. When answers are slow, fetches are rarer. */
function useStream(view: View, width: number, isRunning: boolean) {
  const [stream, setStream] = useState<TaskStream | null>(null);
  const [error, setError] = useState<string | null>(null);
  const wanted = useRef(view);
  wanted.current = view;
  const fixed = view.follows ? "" : `${view.from}-${view.to}`;
  // A view that follows moves by itself, so its times are no reason to fetch.
  useEffect(() => {
    if (width === 0) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async () => {
      const started = performance.now();
      const { from, to, follows } = wanted.current;
      try {
        if (!document.hidden || stream === null) {
          const range = `from=${Math.floor(from)}&to=${Math.ceil(to)}&width=${Math.round(width)}`;
          const query = follows && isRunning ? `${range}&follows` : range;
          setStream(await ask<TaskStream>(`api/tasks?${query}`, abort.signal));
          setError(null);
        }
      } catch (problem) {
        if (abort.signal.aborted) return;
        setError(String(problem).replace(/^\w*Error: /, ""));
      }
      const took = performance.now() - started;
      if (follows && isRunning && !abort.signal.aborted)
        timer = setTimeout(load, Math.max(BETWEEN_QUESTIONS, took * 5));
    };
    timer = setTimeout(load, stream === null ? 0 : 120);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [width, view.follows, fixed, isRunning]);
  return { stream, error };
}
