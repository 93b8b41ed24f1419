/**
 * Jobs that cannot go on. Code that finds a failure records it here, and `endFailing` (job.ts) ends the job before
 * anything else is decided. So only the end of a job has to know all parts of a job.
 */

import type { WireError } from "../../errors/index.ts";
import type { JobState, State } from "../state/index.ts";

export function failJob(state: State, job: JobState, error: WireError): void {
  if (isFailing(job) || (job.phase !== "running" && job.phase !== "committing")) return;
  job.error = error;
  state.phases.failing.push(job);
}

/** The job's operators may begin something. */
export function isGoingOn(job: JobState): boolean {
  return job.phase === "running" && !isFailing(job);
}

/** Nothing of the job is wanted any more; it may not have been ended yet. */
export function isFailing({ error }: JobState): boolean {
  return error !== null;
}
