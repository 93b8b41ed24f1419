/** Everything that happened and is still kept, with a search. */
import { useState } from "preact/hooks";
import type { Happened } from "../../api.ts";
import { count, plural } from "../format.ts";
import { useEpoch, useLive } from "../live/index.ts";
import { Empty } from "../parts/empty.tsx";
import { HappenedList } from "../parts/happened-list.tsx";
import { Panel } from "../parts/panel.tsx";

const AT_ONCE = 500;
const SEVERITIES = ["all", "warning", "error"] as const;
type Least = (typeof SEVERITIES)[number];

export function Events() {
  const { happened, happenedDropped } = useLive("happened");
  const epoch = useEpoch();
  const [find, setFind] = useState("");
  const [least, setLeast] = useState<Least>("all");
  const found = happened.filter((line) => isWanted(line, least, find.toLowerCase()));
  const shown = found.slice(-AT_ONCE).reverse();
  return (
    <Panel title="Events" class="tall" aside={<span class="muted">{plural(found.length, "line")}</span>}>
      <form class="tools" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          Find <input type="search" value={find} onInput={(event) => setFind(event.currentTarget.value)} />
        </label>
        <label>
          Show{" "}
          <select value={least} onChange={(event) => setLeast(SEVERITIES[event.currentTarget.selectedIndex] ?? "all")}>
            <option value="all">everything</option>
            <option value="warning">warnings and errors</option>
            <option value="error">errors</option>
          </select>
        </label>
      </form>
      {happened.length === 0 ? (
        <Empty title="Nothing of note has happened.">Spills, pauses, kills, retries and notices are listed here.</Empty>
      ) : (
        <HappenedList label="Events" lines={shown} epoch={epoch} />
      )}
      {(found.length > shown.length || happenedDropped > 0) && (
        <p class="left-out">
          Left out: {count(found.length - shown.length)} older lines that match
          {happenedDropped > 0 && `, and ${plural(happenedDropped, "line")} that this page does not keep`}. The file
          events.jsonl of the session's logs has them.
        </p>
      )}
    </Panel>
  );
}

function isWanted({ severity, text, type }: Happened, least: Least, find: string): boolean {
  if (least === "error" && severity !== "error") return false;
  if (least === "warning" && severity === "info") return false;
  return find === "" || text.toLowerCase().includes(find) || type.toLowerCase().includes(find);
}
