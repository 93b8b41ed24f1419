/**
 * The job that a page shows until the reader chooses one: the newest that runs, else the newest ended one that is worth
 * a look. A short job after a long one, such as a `show(5)` of what was written, is not; one that broke off always is.
 */
import type { JobCard } from "../../api.ts";

/** A job that took so long is worth a look, whatever other jobs took. */
const LONG_MS = 1000;
/** Among short jobs: this share of the time of the longest. */
const MUCH = 0.1;

/** `jobs`: in the order in which they were started. */
export function jobToShow(jobs: Iterable<JobCard>): JobCard | undefined {
  const all = [...jobs];
  const enough = Math.min(LONG_MS, MUCH * Math.max(...all.map(timeOf)));
  return (
    all.findLast(({ endedAt }) => endedAt === null) ?? all.findLast((job) => brokeOff(job) || timeOf(job) >= enough)
  );
}

function brokeOff({ outcome }: JobCard): boolean {
  return outcome === "failed" || outcome === "cut off";
}

function timeOf({ startedAt, endedAt }: JobCard): number {
  return (endedAt ?? startedAt) - startedAt;
}
