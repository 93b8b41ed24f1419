/** An operator's page: findings, figures, memory of its tasks over time, and tasks. */

import { useMemo } from "preact/hooks";
import type { OperatorCard, OperatorDetails } from "../../api.ts";
import { titleOf } from "../../model/operator-title.ts";
import { SeriesChart } from "../chart/index.ts";
import { useAnswer } from "../fetching.ts";
import { bytes, count, duration, plural, short, wholePercent } from "../format.ts";
import { SeriesBuffer, useEpoch, useLive } from "../live/index.ts";
import { operatorColour } from "../palette.ts";
import { Empty, Failure, Waiting } from "../parts/empty.tsx";
import { type Fact, Facts } from "../parts/facts.tsx";
import { Findings } from "../parts/findings.tsx";
import { Swatch } from "../parts/operator-name.tsx";
import { Panel } from "../parts/panel.tsx";
import { address } from "../route.ts";
import { heldWords } from "./operator-table.tsx";
import { Recipe } from "./recipe.tsx";
import { taskCurves } from "./task-curves.ts";
import { TaskTable } from "./task-table.tsx";

export function OperatorPage({ of }: { readonly of: string }) {
  const [job = "", id = ""] = of.split("/");
  const live = useLive("operators", "session");
  const asked = `api/operators/${encodeURIComponent(job)}/${encodeURIComponent(id)}`;
  const { data, error } = useAnswer<OperatorDetails>(asked, 2000);
  const card = live.operators.get(of) ?? data?.card ?? null;
  if (card === null) {
    return (
      <Panel title="Operator">
        {error === null ? <Waiting what="the operator" /> : <Failure what="The operator" error={error} />}
        <p>
          <a href={address("plan")}>All operators</a>
        </p>
      </Panel>
    );
  }
  return (
    <>
      <p class="path">
        <a href={address("plan", job)}>Plan of job {job}</a>
      </p>
      <div class="operator-title">
        <Swatch colour={operatorColour(of)} />
        <h2>
          <bdi>{short(titleOf(card.plan), 400)}</bdi>
        </h2>
      </div>
      <OperatorFigures card={card} now={live.session?.at ?? 0} />
      <Recipe plan={card.plan} />
      {error !== null && <Failure what="Its tasks" error={error} />}
      {data !== null && <Details details={data} />}
      {data === null && error === null && <Waiting what="its tasks" />}
    </>
  );
}

function stateOf({ ended, running, share }: OperatorCard): string {
  if (ended) return "done";
  const state = running > 0 ? "running" : "waiting";
  return share === null || share === 0 ? state : `${state}, ${wholePercent(share)} done`;
}

function OperatorFigures({ card, now }: { readonly card: OperatorCard; readonly now: number }) {
  const time = card.startedAt === null ? null : (card.endedAt ?? now) - card.startedAt;
  const figures: readonly Fact[] = [
    ["State", stateOf(card)],
    ["Runs in", card.plan.place === "wide" ? "the wide kernel" : "workers"],
    ["Tasks", `${count(card.done)} of ${count(card.tasks)} done, ${count(card.running)} running`],
    ["Failed", `${count(card.failed)}, run again ${count(card.retries)}, for memory ${count(card.oomRetries)}`],
    ["Rows", `${count(card.rowsIn)} in, ${count(card.rowsOut)} out, ${count(card.errored)} in error`],
    ["Made", `${bytes(card.bytesOut)}, ${count(card.rowsPerSecond)} rows/s`],
    [
      "Queued",
      `${plural(card.queuedBlocks, "block")}, ${bytes(card.queuedBytes)}, ${count(card.spilledBlocks)} on disk`,
    ],
    [
      "Memory",
      `${bytes(card.memoryNow)} now, peak of a task ${bytes(card.peakMemory)}, added by one ${bytes(card.addedMemory)}`,
    ],
    ["A task takes", card.appetite === null ? "unknown" : `about ${bytes(card.appetite)}, as far as was seen`],
    ["Spilled", `${bytes(card.spilledBytes)}, restored ${bytes(card.restoredBytes)}`],
    ["Its own clock", duration(time)],
    ["Its tasks", `${duration(card.wall)}, CPU ${duration(card.cpu)}, longest ${duration(card.longest)}`],
    ["Held back", heldWords(card, now)],
  ];
  return (
    <Panel title="Figures">
      <Facts facts={figures} />
    </Panel>
  );
}

function Details({ details }: { readonly details: OperatorDetails }) {
  const epoch = useEpoch();
  const series = useMemo(() => new SeriesBuffer(details.memory), [details]);
  const curves = useMemo(() => taskCurves(series), [series]);
  return (
    <>
      <Panel title="Findings">
        <Findings findings={details.findings} />
      </Panel>
      <Panel title="Memory of its tasks">
        {curves.length === 0 ? (
          <Empty title="No task has run for long enough.">
            The private memory of each task that was read twice, 200 ms apart, is drawn here over time.
          </Empty>
        ) : (
          <SeriesChart label="Private memory by task" series={series} curves={curves} epoch={epoch} format={bytes} />
        )}
        {details.memoryLeftOut > 0 && (
          <p class="left-out">Left out: {plural(details.memoryLeftOut, "task")} with less memory.</p>
        )}
      </Panel>
      <Panel title="Tasks">
        {details.tasks.length === 0 ? (
          <Empty title="No task has been formed.">The longest and the fullest tasks are listed here.</Empty>
        ) : (
          <TaskTable tasks={details.tasks} epoch={epoch} />
        )}
        {details.tasksLeftOut > 0 && (
          <p class="left-out">
            Left out: {plural(details.tasksLeftOut, "task")} that took less time and less memory than these.
          </p>
        )}
      </Panel>
    </>
  );
}
