/** What those are told who wait for a worker when none is started any more. */
import { OutOfMemoryError, WorkerDiedError } from "../errors/index.ts";
import { deathDetails, peakOf, type WorkerEnd } from "../scheduler/index.ts";

export function workersDoNotStart(failures: number, end: WorkerEnd): WorkerDiedError {
  const { exitCode, signal, cause, log, tail } = end;
  const how = end.connection === "never" ? "no sign of life" : signal === null ? `code ${exitCode}` : signal;
  const message =
    `Workers cannot be started: ${failures} in a row ended at once, the last one with ${how}. ` +
    `Its log (${log}) ends with:\n${tail}`;
  return new WorkerDiedError(message, "start", exitCode, signal, cause, "SYSTEM_ERROR");
}

const REMEDIES = [
  "use a smaller batchSize, or keep less in the function",
  "ask for the memory that the function needs (its option memory)",
  "use fewer workers, or give them more memory (workers, memoryLimit)",
];

export function noMemoryForWorkers(inARow: number, end: WorkerEnd): OutOfMemoryError {
  const message =
    `No worker is left: ${inARow} in a row ran out of memory, and none had done a task in between. They are tried again with the ` +
    `next job. The last one:\n${deathDetails(end)}\nWhat to do: ${REMEDIES.join("; ")}.`;
  return new OutOfMemoryError(message, "workers", end.cause, peakOf(end), inARow, REMEDIES);
}
