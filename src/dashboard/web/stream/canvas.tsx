/** The canvas of the task stream. Dragging and the arrow keys move it; Ctrl with the wheel, + and − zoom it. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { TaskStream } from "../../api.ts";
import { hideTip, showTip, TipRows } from "../parts/tip.tsx";
import { useTheme } from "../theme.ts";
import { laneWords, spanAt, spanRows, spanTitle } from "./hit.ts";
import { GUTTER, heightOf, laneHeight, paint } from "./paint.ts";
import { everything, firstView, panned, type View, zoomed } from "./view.ts";

interface StreamCanvasProps {
  readonly stream: TaskStream | null;
  readonly view: View;
  readonly now: number;
  readonly epoch: number;
  readonly label: string;
  onView(view: View): void;
  onWidth(width: number): void;
}

export function StreamCanvas({ stream, view, now, epoch, label, onView, onWidth }: StreamCanvasProps) {
  const { dark } = useTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [chosen, setChosen] = useState<number | null>(null);
  const drag = useRef<{ readonly x: number; readonly view: View } | null>(null);
  const lanes = stream?.lanes ?? [];

  useLayoutEffect(() => {
    const parent = canvas.current?.parentElement;
    if (parent === null || parent === undefined) return;
    const measure = () => {
      setWidth(parent.clientWidth);
      onWidth(Math.max(0, parent.clientWidth - GUTTER));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(parent);
    return () => observer.disconnect();
  }, []);

  // Painting reads the colours of the theme, so a new theme paints again.
  useEffect(() => {
    if (canvas.current !== null && stream !== null && width > 0) paint(canvas.current, { stream, view, width, chosen });
  }, [stream, view.from, view.to, width, chosen, dark]);

  useWheel(canvas, view, now, onView);

  const shareAt = (clientX: number) => {
    const left = canvas.current?.getBoundingClientRect().left ?? 0;
    return (clientX - left - GUTTER) / Math.max(1, width - GUTTER);
  };
  const point = (event: PointerEvent) => {
    if (drag.current !== null) {
      hideTip();
      onView(panned(drag.current.view, (drag.current.x - event.clientX) / Math.max(1, width - GUTTER), now));
      return;
    }
    const top = canvas.current?.getBoundingClientRect().top ?? 0;
    const lane = lanes[Math.floor((event.clientY - top) / laneHeight(lanes.length))];
    const span = view.to - view.from;
    const time = view.from + shareAt(event.clientX) * span;
    const found = lane === undefined ? null : spanAt(lane, time, (span / Math.max(1, width)) * 3);
    if (stream === null || lane === undefined || found === null) return hideTip();
    const title = spanTitle(stream, found, lane);
    showTip(event.clientX, event.clientY, <TipRows title={title} rows={spanRows(found, lane, epoch)} />);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = lanes.length - 1;
    const choose = (lane: number) => setChosen(Math.max(0, Math.min(last, lane)));
    const actions: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => onView(panned(view, -0.2, now)),
      ArrowRight: () => onView(panned(view, 0.2, now)),
      "+": () => onView(zoomed(view, 0.5, view.follows ? 1 : 0.5, now)),
      "=": () => onView(zoomed(view, 0.5, view.follows ? 1 : 0.5, now)),
      "-": () => onView(zoomed(view, 2, view.follows ? 1 : 0.5, now)),
      Home: () => onView(everything(now)),
      End: () => onView(firstView(now, true)),
      ArrowDown: () => choose((chosen ?? -1) + 1),
      ArrowUp: () => choose((chosen ?? 1) - 1),
    };
    const action = actions[event.key];
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  };
  const lane = chosen === null ? undefined : lanes[chosen];
  return (
    <div class="stream-box">
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${label}. Left and right move through time, plus and minus zoom, up and down choose a row.`}
        tabIndex={0}
        width={1}
        height={1}
        style={{ height: `${heightOf(lanes.length)}px` }}
        onKeyDown={onKeyDown}
        onBlur={() => setChosen(null)}
        onPointerMove={point}
        onPointerLeave={hideTip}
        onPointerDown={(event) => {
          drag.current = { x: event.clientX, view };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerUp={() => {
          drag.current = null;
        }}
        onDblClick={(event) => onView(zoomed(view, 0.4, shareAt(event.clientX), now))}
      />
      <p class="sr" aria-live="polite">
        {lane === undefined ? "" : laneWords(lane)}
      </p>
    </div>
  );
}

/** Ctrl with the wheel zooms around the pointer, and a sideways wheel moves. The wheel alone scrolls the page. */
function useWheel(
  canvas: { current: HTMLCanvasElement | null },
  view: View,
  now: number,
  onView: (view: View) => void,
): void {
  const newest = useRef({ view, now, onView });
  newest.current = { view, now, onView };
  // The canvas element stays the same.
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const onWheel = (event: WheelEvent) => {
      const { view: seen, now: at, onView: change } = newest.current;
      const { left, width } = element.getBoundingClientRect();
      const share = Math.max(0, Math.min(1, (event.clientX - left - GUTTER) / Math.max(1, width - GUTTER)));
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey) change(zoomed(seen, Math.exp(event.deltaY / 300), share, at));
      else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY))
        change(panned(seen, sideways / width, at));
      else return;
      event.preventDefault();
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);
}
