/** The operators of a job as a graph, or the page of one operator when the address names it. */
import type { PageProps } from "../app.tsx";
import { duration } from "../format.ts";
import { useLive } from "../live/index.ts";
import { Empty } from "../parts/empty.tsx";
import { JobChooser, jobWord } from "../parts/job-chooser.tsx";
import { jobToShow } from "../parts/job-to-show.ts";
import { Panel } from "../parts/panel.tsx";
import { address } from "../route.ts";
import { operatorsOf } from "../status/progress.tsx";
import { PlanGraph } from "./graph.tsx";
import { OperatorPage } from "./operator.tsx";
import { OperatorTable } from "./operator-table.tsx";

export function Plan({ route }: PageProps) {
  const live = useLive("jobs", "operators", "session");
  const [wanted, operator] = route.rest;
  if (wanted !== undefined && operator !== undefined) return <OperatorPage of={`${wanted}/${operator}`} />;
  const job = wanted === undefined ? jobToShow(live.jobs.values()) : live.jobs.get(wanted);
  if (job === undefined) {
    return (
      <Panel title="Plan">
        <Empty title={wanted === undefined ? "No job has started." : "This job is not kept."}>
          A job's operators are drawn here as a graph, from what they read to what becomes of the rows, with live
          figures.
        </Empty>
      </Panel>
    );
  }
  const now = job.endedAt ?? live.session?.at ?? 0;
  const cards = operatorsOf(live, job);
  const choose = (next: string) => {
    location.hash = address("plan", next);
  };
  return (
    <>
      <Panel title="Plan" aside={<JobChooser jobs={[...live.jobs.values()]} chosen={job.id} onChoose={choose} />}>
        <p class="job-line">
          {jobWord(job)} {job.endedAt === null ? "for" : "after"} {duration(now - job.startedAt)}
          {job.error !== null && <span class="error-text"> {job.error.message.slice(0, 500)}</span>}
        </p>
        <PlanGraph key={job.id} cards={cards} now={now} />
      </Panel>
      <Panel title="Operators">
        <OperatorTable cards={cards} now={now} />
      </Panel>
    </>
  );
}
