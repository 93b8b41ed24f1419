/** The page "Out of memory": one entry for each worker that ended unasked and each task that ran out of memory. */
import { useState } from "preact/hooks";
import type { DeathCard } from "../../api.ts";
import type { PageProps } from "../app.tsx";
import { useAnswer } from "../fetching.ts";
import { plural } from "../format.ts";
import { useLive } from "../live/index.ts";
import { Empty, Failure, Waiting } from "../parts/empty.tsx";
import { Panel } from "../parts/panel.tsx";
import { Death } from "./death.tsx";

const AT_ONCE = 20;

export function Deaths({ route }: PageProps) {
  const { totals } = useLive("totals");
  const [all, setAll] = useState(false);
  const [most, setMost] = useState(AT_ONCE);
  const known = totals === null ? 0 : totals.memoryDeaths + totals.otherDeaths + totals.oomRetries;
  const { data, error } = useAnswer<readonly DeathCard[]>(`api/deaths?known=${known}`, 5000);
  const last = useLast(data);
  if (last === null) {
    return (
      <Panel title="Out of memory">
        {error === null ? <Waiting what="deaths and retries" /> : <Failure what="Deaths and retries" error={error} />}
      </Panel>
    );
  }
  const chosen = route.rest[0];
  const wanted = [...last].reverse().filter((card) => all || card.isMemory || String(card.id) === chosen);
  const others = last.filter(({ isMemory }) => !isMemory).length;
  return (
    <>
      <div class="deaths-head">
        <p>
          {plural(last.length - others, "death or retry", "deaths and retries")} because of memory,{" "}
          {plural(others, "other death")} of workers.
        </p>
        {others > 0 && (
          <label class="check">
            <input type="checkbox" checked={all} onChange={() => setAll(!all)} /> Show the others, too
          </label>
        )}
      </div>
      {error !== null && <Failure what="Newer deaths" error={error} />}
      {wanted.length === 0 && (
        <Panel title="Nothing ran out of memory">
          <Empty title="No worker was ended for its memory, and no task asked for more than there was.">
            For each such moment this page would show the memory of the worker and of the node before it, the task with
            its operator and files, what ran beside it, why this worker was chosen, and what to do.
          </Empty>
        </Panel>
      )}
      {wanted.slice(0, most).map((card) => (
        <Death key={card.id} card={card} />
      ))}
      {wanted.length > most && (
        <p class="more">
          {plural(wanted.length - most, "older entry", "older entries")} not shown.{" "}
          <button type="button" onClick={() => setMost(most * 4)}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}

/** Keeps the last answer on screen while a newer one is on its way. */
function useLast(data: readonly DeathCard[] | null): readonly DeathCard[] | null {
  const [last, setLast] = useState<readonly DeathCard[] | null>(null);
  if (data !== null && data !== last) setLast(data);
  return data ?? last;
}
