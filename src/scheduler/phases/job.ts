/**
 * Where a job stands. `moveJob` is the only writer of a job's phase; a job that is gone is not among the state's jobs.
 */
import type { JobPhase } from "../../protocol/index.ts";
import { type JobState, note, type State } from "../state/index.ts";
import { assertMove, type Moves } from "./moves.ts";

export const JOB_MOVES: Moves<JobPhase> = {
  running: {
    committing: "all of its files are written",
    stopping: "it has failed, was cancelled, or has enough rows while tasks still run",
    gone: "its last block was taken",
  },
  committing: {
    stopping: "its files cannot be moved, or tasks still run",
    gone: "its files are in their place",
  },
  stopping: {
    discarding: "its tasks have ended, and have written files",
    gone: "its tasks have ended",
  },
  discarding: { gone: "its files are removed" },
  gone: {},
};

export function addJob({ jobs }: State, job: JobState): void {
  jobs.set(job.id, job);
}

/** Takes the jobs that have become unable to continue since the last call. */
export function takeFailing({ phases }: State): readonly JobState[] {
  return phases.failing.splice(0);
}

export function moveJob(state: State, job: JobState, to: JobPhase): void {
  assertMove(JOB_MOVES, `The job ${job.id}`, job.phase, to);
  job.phase = to;
  if (to === "gone") state.jobs.delete(job.id);
  note(state, { type: "job", job: job.id, to });
}
