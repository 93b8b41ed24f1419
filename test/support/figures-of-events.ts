/** The figures that the program was told of a job, looked for in what a reader makes of the session's events. */
import { setInterval } from "node:timers";
import { expect } from "vitest";
import { apply, emptyState, type FileRecord, jobStats, type SessionState, stateOf } from "../../src/events/index.ts";
import type { JobId, JobStats, Milliseconds } from "../../src/protocol/index.ts";

/** How often the figures of a running job are looked at. Others are told ten times a second at most. */
const LOOK: Milliseconds = 5;

/** All figures that `latest` gives while `run` goes on, each once, and the last ones. */
export async function toldDuring(latest: () => JobStats | null, run: Promise<unknown>): Promise<readonly JobStats[]> {
  const told = new Set<JobStats>();
  const look = () => {
    const stats = latest();
    if (stats !== null) told.add(stats);
  };
  const timer = setInterval(look, LOOK);
  try {
    await run;
  } finally {
    clearInterval(timer);
    look();
  }
  return [...told];
}

/** The moment of the session at which the figures were made, in tenths of a millisecond as events have it. */
export function momentOf(stats: JobStats, startedAt: Milliseconds): Milliseconds {
  return Math.round((startedAt + stats.seconds * 1000) * 10) / 10;
}

/** Fails unless a reader of the events has exactly these figures of the job at their moment: every field. */
export function expectInEvents(records: Iterable<FileRecord | null>, job: JobId, stats: JobStats): void {
  let state = emptyState();
  let at: Milliseconds = Number.POSITIVE_INFINITY;
  let last: JobStats | null = null;
  // Several things can happen within a tenth of a millisecond: the figures are those after one of them.
  const isFound = () => {
    last = figuresAt(state, job, at);
    return last !== null && JSON.stringify(last) === JSON.stringify(stats);
  };
  for (const record of records) {
    if (record === null) continue;
    if (record.type === "snapshot") {
      state = stateOf(record.state);
      continue;
    }
    if (record.at > at && isFound()) return;
    if (record.at > at) break;
    apply(state, record);
    const view = state.jobs.get(job);
    if (view === undefined) continue;
    at = momentOf(stats, view.startedAt);
    if (record.at === at && isFound()) return;
  }
  if (!isFound()) expect(last).toEqual(stats);
}

function figuresAt(state: SessionState, job: JobId, at: Milliseconds): JobStats | null {
  const view = state.jobs.get(job);
  return view === undefined ? null : jobStats(state, view, at);
}
