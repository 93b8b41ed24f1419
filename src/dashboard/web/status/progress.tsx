/** The progress of each operator of a job, and what holds it back. */

import { useState } from "preact/hooks";
import type { JobCard, OperatorCard } from "../../api.ts";
import { titleOf } from "../../model/operator-title.ts";
import { byteRate, bytes, count, duration, plural, wholePercent } from "../format.ts";
import { type LiveState, useLive } from "../live/index.ts";
import { operatorColour } from "../palette.ts";
import { Empty } from "../parts/empty.tsx";
import { JobChooser, jobWord } from "../parts/job-chooser.tsx";
import { jobToShow } from "../parts/job-to-show.ts";
import { OperatorName } from "../parts/operator-name.tsx";
import { Panel } from "../parts/panel.tsx";
import { heldNow, heldSoFar } from "./held.ts";

export function Progress() {
  const live = useLive("jobs", "operators", "session");
  const [chosen, setChosen] = useState<string | null>(null);
  const job = (chosen === null ? undefined : live.jobs.get(chosen)) ?? jobToShow(live.jobs.values());
  if (job === undefined) {
    return (
      <Panel title="Progress">
        <Empty title="No job has started.">Each operator of a job has a line here: its tasks, rows and blocks.</Empty>
      </Panel>
    );
  }
  const now = job.endedAt ?? live.session?.at ?? 0;
  const cards = operatorsOf(live, job);
  return (
    <Panel title="Progress" aside={<JobChooser jobs={[...live.jobs.values()]} chosen={job.id} onChoose={setChosen} />}>
      <p class="job-line">
        {jobWord(job)} {job.endedAt === null ? "for" : "after"} {duration(now - job.startedAt)},{" "}
        {plural(job.rows ?? job.rowsDelivered, "row")} delivered
        {job.error !== null && <span class="error-text"> {job.error.message.slice(0, 500)}</span>}
      </p>
      <ul class="progress">
        {cards.map((card) => (
          <OperatorLine key={card.id} card={card} now={now} />
        ))}
      </ul>
    </Panel>
  );
}

export function operatorsOf({ operators }: LiveState, job: JobCard): readonly OperatorCard[] {
  return job.operators.flatMap((id) => operators.get(`${job.id}/${id}`) ?? []);
}

function OperatorLine({ card, now }: { readonly card: OperatorCard; readonly now: number }) {
  const key = `${card.job}/${card.id}`;
  const { share } = card;
  const held = heldNow(card, now);
  return (
    <li>
      <div class="progress-head">
        <OperatorName name={titleOf(card.plan)} of={key} />
        <span class="progress-tasks">
          {share !== null && !card.ended && `${wholePercent(share)}, `}
          {count(card.done)} / {count(card.tasks)} tasks
          {card.running > 0 && `, ${count(card.running)} running`}
          {card.ended && ", done"}
        </span>
      </div>
      <div
        class={`progress-bar ${share === null && card.running > 0 ? "unknown" : ""}`}
        role="progressbar"
        aria-label={`${titleOf(card.plan).slice(0, 200)}: work done`}
        // Without a value, the share is unknown.
        aria-valuenow={share === null ? undefined : Math.floor(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <span style={{ width: `${(share ?? 0) * 100}%`, background: operatorColour(key) }} />
      </div>
      <div class="progress-facts">
        <span>{plural(card.rowsOut, "row")}</span>
        <span>{bytes(card.bytesOut)}</span>
        {!card.ended && <span>{byteRate(card.bytesPerSecond)}</span>}
        {!card.ended && <span>{count(card.rowsPerSecond)} rows/s</span>}
        <span>
          {plural(card.queuedBlocks, "block")} queued ({bytes(card.queuedBytes)})
        </span>
        {card.spilledBlocks > 0 && <span class="spilled-text">{count(card.spilledBlocks)} on disk</span>}
        {card.retries + card.oomRetries > 0 && (
          <span class="warn-text">{plural(card.retries + card.oomRetries, "retry", "retries")}</span>
        )}
        {held === null ? <HeldSoFar card={card} /> : <span class="warn-text">held back by {held}</span>}
      </div>
    </li>
  );
}

function HeldSoFar({ card }: { readonly card: OperatorCard }) {
  const [longest] = heldSoFar(card);
  if (longest === undefined || longest[1] < 100) return null;
  return (
    <span class="muted">
      was held back by {longest[0]} for {duration(longest[1])}
    </span>
  );
}
