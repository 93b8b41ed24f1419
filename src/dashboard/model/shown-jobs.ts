/** Which jobs the pages show: all that run, and the newest ended ones. */
import type { JobView } from "../../events/index.ts";

const MOST_ENDED = 100;

/** `jobs`: in the order in which they were started. */
export function shownJobs(jobs: Iterable<JobView>): readonly JobView[] {
  const all = [...jobs];
  const ended = all.filter(({ endedAt }) => endedAt !== null);
  const hidden = new Set(ended.slice(0, Math.max(0, ended.length - MOST_ENDED)));
  return all.filter((job) => !hidden.has(job));
}
