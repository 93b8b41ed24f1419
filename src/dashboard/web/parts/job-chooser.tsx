/** Chooses the job to show when a session has several. Its operators and its time say which job it is. */
import type { JobCard } from "../../api.ts";
import { titleOf } from "../../model/operator-title.ts";
import { count, duration } from "../format.ts";
import { type LiveState, useLive } from "../live/index.ts";

const SHOWN = 200;
/** Of the names of a job's operators. */
const MOST_LETTERS = 80;

export function jobWord({ outcome, endedAt }: JobCard): string {
  return outcome ?? (endedAt === null ? "running" : "ended");
}

interface JobChooserProps {
  readonly jobs: readonly JobCard[];
  readonly chosen: string;
  onChoose(job: string): void;
}

export function JobChooser({ jobs, chosen, onChoose }: JobChooserProps) {
  const live = useLive("operators");
  if (jobs.length < 2) return <span class="muted">job {chosen}</span>;
  const newest = jobs.slice(-SHOWN).reverse();
  return (
    <label class="chooser">
      Job{" "}
      <select value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
        {newest.map((job) => (
          <option key={job.id} value={job.id}>
            {job.id}: {operatorNames(live, job)}, {jobWord(job)}
            {job.endedAt !== null && ` after ${duration(job.endedAt - job.startedAt)}`}
          </option>
        ))}
      </select>
      {jobs.length > SHOWN && <span class="muted"> the newest {count(SHOWN)}</span>}
    </label>
  );
}

function operatorNames({ operators }: LiveState, job: JobCard): string {
  const cards = job.operators.flatMap((id) => operators.get(`${job.id}/${id}`) ?? []);
  const names = cards.map(({ plan }) => titleOf(plan)).join(", ");
  return names.length <= MOST_LETTERS ? names : `${names.slice(0, MOST_LETTERS)}…`;
}
