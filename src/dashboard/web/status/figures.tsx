/** The session in one line of figures. */
import { bytes, count, plural } from "../format.ts";
import { useLive } from "../live/index.ts";

export function Figures() {
  const { totals, session } = useLive("totals", "session");
  if (totals === null) return null;
  const { tasks, store } = totals;
  const figures: readonly (readonly [string, string, string])[] = [
    ["Tasks", count(tasks.running), `running, ${count(tasks.waiting)} waiting, ${count(tasks.done)} done`],
    ["Slots", count(session?.slots ?? 0), "tasks at once"],
    ["Store", bytes(store.resident), `of ${bytes(store.capacity)}, ${plural(store.blocks, "block")}`],
    ["On disk", bytes(store.onDisk), `${bytes(store.files)} of files`],
    ["Spilled", bytes(totals.spilledBytes), `${bytes(totals.restoredBytes)} came back`],
    ["Ends by memory", count(totals.memoryDeaths), plural(totals.oomRetries, "retry", "retries")],
    ["Other deaths", count(totals.otherDeaths), "of workers"],
  ];
  return (
    <dl class="figures" aria-label="The session in numbers">
      {figures.map(([name, value, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <strong>{value}</strong> <span>{more}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
