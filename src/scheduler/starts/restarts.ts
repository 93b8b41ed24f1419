/**
 * When a worker that died for memory is replaced: after 1 s, its replacement after 2 s, the next after 4 s, … 30 s at
 * most, as long as no task is done in between. After five replacements in a row the next one waits for new work.
 * Workers that die together count once. Workers that died of anything else are replaced at once.
 */
import type { Milliseconds } from "../../protocol/index.ts";
import type { Birth, State, WorkerEnd } from "../state/index.ts";

const FIRST_PAUSE: Milliseconds = 1_000;
const LONGEST_PAUSE: Milliseconds = 30_000;
const IN_A_ROW = 5;

export function bornInto({ starts: { restarts }, now }: State): Birth {
  return { at: now, row: restarts.row, deaths: restarts.row.deaths };
}

export function diedForMemory({ starts: { restarts }, now }: State, birth: Birth, end: WorkerEnd): void {
  const inARow = birth.row === restarts.row ? birth.deaths + 1 : 1;
  restarts.row.deaths = Math.max(restarts.row.deaths, inARow);
  restarts.lastEnd = end;
  if (inARow > IN_A_ROW) {
    restarts.withheld += 1;
    return;
  }
  const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (inARow - 1));
  restarts.dueAt = [...restarts.dueAt, now + pause];
}

/** Replacements that may not start now. */
export function heldBack({ starts: { restarts } }: State): number {
  return restarts.dueAt.length + restarts.withheld;
}

/** Replacements that will start by themselves. */
export function comingWorkers({ starts: { restarts } }: State): number {
  return restarts.dueAt.length;
}

/** Nothing is started any more by itself. */
export function hasGivenUp({ starts: { restarts } }: State): boolean {
  return restarts.withheld > 0 && restarts.dueAt.length === 0;
}

/** Replacements whose time has come are no longer held back. */
export function releaseDue({ starts: { restarts }, now }: State): void {
  if (restarts.dueAt.some((at) => at <= now)) restarts.dueAt = restarts.dueAt.filter((at) => at > now);
}

export function restartDeadline({ starts: { restarts } }: State): Milliseconds {
  return Math.min(...restarts.dueAt);
}

/** A task is done, so workers can work: the next death is the first of a new row. */
export function workDone(state: State): void {
  if (state.starts.restarts.row.deaths > 0) beginAnew(state);
}

/** There is new work: workers that were given up are started again. */
export function workComes(state: State): void {
  if (hasGivenUp(state)) beginAnew(state);
}

function beginAnew({ starts: { restarts } }: State): void {
  restarts.row = { deaths: 0 };
  restarts.withheld = 0;
  restarts.isTold = false;
}
