/** The session itself, the settings in force, and the source of each value. */
import { useState } from "preact/hooks";
import type { SettingRow } from "../../api.ts";
import { useAnswer } from "../fetching.ts";
import { count, dateTime, duration } from "../format.ts";
import { useLive } from "../live/index.ts";
import { Empty, Failure, Waiting } from "../parts/empty.tsx";
import { type Fact, Facts } from "../parts/facts.tsx";
import { Panel } from "../parts/panel.tsx";
import { SettingsTable } from "../parts/settings-table.tsx";

export function Settings() {
  const { data, error } = useAnswer<readonly SettingRow[]>("api/settings");
  const [find, setFind] = useState("");
  const [changed, setChanged] = useState(false);
  const rows = (data ?? []).filter(
    ({ path, from }) => path.toLowerCase().includes(find.toLowerCase()) && !(changed && from === "default"),
  );
  return (
    <>
      <SessionFacts />
      <Panel
        title="Settings in force"
        aside={data !== null && <span class="muted">{count(rows.length)} settings</span>}
      >
        <form class="tools" role="search" onSubmit={(event) => event.preventDefault()}>
          <label>
            Find <input type="search" value={find} onInput={(event) => setFind(event.currentTarget.value)} />
          </label>
          <label class="check">
            <input type="checkbox" checked={changed} onChange={() => setChanged(!changed)} /> Without defaults
          </label>
        </form>
        {error !== null && <Failure what="The settings" error={error} />}
        {data === null && error === null && <Waiting what="the settings" />}
        {data !== null && rows.length === 0 && (
          <Empty title={data.length === 0 ? "No settings are known of this session." : "No setting matches."}>
            Each setting is listed here with its value and the file, variable or option that gave it.
          </Empty>
        )}
        {rows.length > 0 && <SettingsTable label="Settings in force" rows={rows} />}
      </Panel>
    </>
  );
}

function SessionFacts() {
  const { session } = useLive("session");
  if (session === null) return <Waiting what="the session" />;
  const facts: readonly Fact[] = [
    ["Session", session.name],
    ["Began", dateTime(session.epoch)],
    ["Has lasted", duration(session.at)],
    ["Host", `${session.host}, Node ${session.node}`],
    ["Processes", `program ${session.program}, supervisor ${session.supervisor}`],
    ["Logs", session.directory],
  ];
  return (
    <Panel
      title="Session"
      aside={
        <a href="api/report" download={`${session.name}.html`}>
          Download the report of this session
        </a>
      }
    >
      <Facts facts={facts} />
    </Panel>
  );
}
