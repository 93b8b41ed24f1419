/** What the room `starts` keeps and alone writes: which workers are to start, and when. */
import type { WireError } from "../../errors/index.ts";
import type { Milliseconds } from "../../protocol/index.ts";
import type { WorkerEnd } from "./events.ts";

/** Starts of the session's workers. */
export interface StartsState {
  /** When all wanted workers may start; before, only the first may. Null: the session is not open yet. */
  allFrom: Milliseconds | null;
  /** Workers that were ordered and have not begun to start; without the wide kernel. */
  ordered: number;
  /** Workers in a row that ended before they had connected. */
  failures: number;
  /** No process starts before this time. */
  pausedUntil: Milliseconds;
  /** Why workers cannot be started: new jobs fail with it. */
  error: WireError | null;
  readonly restarts: Restarts;
  readonly firstWorkers: FirstWorkers;
}

export function newStartsState(): StartsState {
  return {
    allFrom: null,
    ordered: 0,
    failures: 0,
    pausedUntil: Number.NEGATIVE_INFINITY,
    error: null,
    restarts: { row: { deaths: 0 }, dueAt: [], withheld: 0, lastEnd: null, isTold: false },
    firstWorkers: { areUp: false, asked: [], waitUntil: null },
  };
}

/** Deaths for memory in a row. When a task is done, a new row (another object) begins. */
interface Row {
  deaths: number;
}

/** When a worker began to start, in which row, and how many had died in it. */
export interface Birth {
  readonly at: Milliseconds;
  readonly row: Row;
  readonly deaths: number;
}

interface Restarts {
  row: Row;
  /** When replacements that are held back may start. */
  dueAt: readonly Milliseconds[];
  /** Replacements that wait for new work. */
  withheld: number;
  /** How the last worker that died for memory ended. */
  lastEnd: WorkerEnd | null;
  /** The program knows that no worker is left. */
  isTold: boolean;
}

/** Requests about the workers of a new session, which wait until its first workers have connected. */
interface FirstWorkers {
  /** The first workers have connected, or the wait is over. */
  areUp: boolean;
  /** Requests that wait, oldest first. */
  asked: readonly number[];
  /** When the wait is over; null: nothing waits yet. */
  waitUntil: Milliseconds | null;
}
