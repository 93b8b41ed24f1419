/** The stretch of time that the task stream shows: moved, zoomed, or following the newest event. */
export interface View {
  readonly from: number;
  readonly to: number;
  /** True while the view ends at the newest event. */
  readonly follows: boolean;
}

/** The first span of a view that follows. */
const FIRST_SPAN = 60_000;
const LEAST_SPAN = 2;

export function firstView(now: number, isRunning: boolean): View {
  return { from: isRunning ? Math.max(0, now - FIRST_SPAN) : 0, to: Math.max(now, 1), follows: isRunning };
}

export function followed(view: View, now: number): View {
  if (!view.follows || now <= view.to) return view;
  // Begins at the start until the span is full, so the rows of a young session fill up from the left.
  const span = Math.max(view.to - view.from, Math.min(FIRST_SPAN, now));
  return { from: Math.max(0, now - span), to: now, follows: true };
}

/** A `factor` below 1 zooms in. `share` is the place that stays where it is. */
export function zoomed(view: View, factor: number, share: number, now: number): View {
  const span = view.to - view.from;
  const next = Math.max(LEAST_SPAN, Math.min(span * factor, Math.max(now, LEAST_SPAN)));
  if (view.follows && share > 0.9) return { from: Math.max(0, view.to - next), to: view.to, follows: true };
  const from = Math.max(0, view.from + (span - next) * share);
  return { from, to: from + next, follows: false };
}

/** `share` is the part of the visible time to move by; above 0 moves to later times. */
export function panned(view: View, share: number, now: number): View {
  const span = view.to - view.from;
  const from = Math.max(0, Math.min(view.from + span * share, now - span * 0.1));
  const reachesEnd = from + span >= now && share > 0;
  return reachesEnd
    ? { from: Math.max(0, now - span), to: now, follows: true }
    : { from, to: from + span, follows: false };
}

export function everything(now: number): View {
  return { from: 0, to: Math.max(now, LEAST_SPAN), follows: false };
}
