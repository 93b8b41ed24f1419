/** The errors for jobs and questions that wait for a worker when no more workers are started. */
import { OutOfMemoryError, toWire, type WireError, WorkerDiedError } from "../../errors/index.ts";
import { failJob, takeInspections } from "../phases/index.ts";
import { giveUpStarting, isNoneLeft, START_FAILURES, toldOfNoneLeft } from "../starts/index.ts";
import { type State, tell, type WorkerEnd } from "../state/index.ts";
import { deathDetails, peakOf } from "./deaths.ts";

const REMEDIES = [
  "use a smaller batchSize, or keep less in the function",
  "ask for the memory that the function needs (its option memory)",
  "use fewer workers, or give them more memory (workers, memoryLimit)",
];

/** Workers end before they have connected: later jobs fail as well, until one connects. */
export function cannotStart(state: State, error: WireError): void {
  giveUpStarting(state, error);
  failAll(state, error);
}

/** No worker is left after deaths for memory: waiting jobs fail, and the next job starts workers again. */
export function failIfNoneIsLeft(state: State): void {
  const { restarts } = state.starts;
  if (restarts.isTold || restarts.lastEnd === null || !isNoneLeft(state)) return;
  toldOfNoneLeft(state);
  failAll(state, toWire(noMemoryForWorkers(restarts.row.deaths, restarts.lastEnd)));
}

function failAll(state: State, error: WireError): void {
  for (const job of state.jobs.values()) failJob(state, job, error);
  for (const { request } of takeInspections(state)) tell(state, { type: "refused", request, error });
  state.commands.push({ type: "unavailable", error });
}

export function workersDoNotStart(end: WorkerEnd): WireError {
  const { exitCode, signal, cause, log, tail } = end;
  const how = end.connection === "never" ? "no sign of life" : signal === null ? `code ${exitCode}` : signal;
  const message =
    `Workers cannot be started: ${START_FAILURES} in a row ended at once, the last one with ${how}. ` +
    `Its log (${log}) ends with:\n${tail}`;
  return toWire(new WorkerDiedError(message, "start", exitCode, signal, cause, "SYSTEM_ERROR"));
}

function noMemoryForWorkers(inARow: number, end: WorkerEnd): OutOfMemoryError {
  const message =
    `No worker is left: ${inARow} in a row ran out of memory before they had finished a task. The next job starts workers ` +
    `again. The last one:\n${deathDetails(end)}\nWhat to do: ${REMEDIES.join("; ")}.`;
  return new OutOfMemoryError(message, "workers", end.cause, peakOf(end), inARow, REMEDIES);
}
