/** The session's logs: the list, or one log when the address names it. */
import type { LogFile } from "../../api.ts";
import type { PageProps } from "../app.tsx";
import { useAnswer } from "../fetching.ts";
import { bytes, dateTime } from "../format.ts";
import { useEpoch } from "../live/index.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty, Failure, Waiting } from "../parts/empty.tsx";
import { Panel } from "../parts/panel.tsx";
import { address } from "../route.ts";
import { LogView } from "./log-view.tsx";

export function downloadAddress(name: string): string {
  return `api/logs/${encodeURIComponent(name)}/download`;
}

export function Logs({ route }: PageProps) {
  const { data, error } = useAnswer<readonly LogFile[]>("api/logs", 5000);
  const epoch = useEpoch();
  const [name] = route.rest;
  const columns: readonly Column<LogFile>[] = [
    {
      name: "Log",
      isHeading: true,
      by: (file) => file.name,
      cell: (file) => <a href={address("logs", file.name)}>{file.name.slice(0, 200)}</a>,
    },
    {
      name: "Of",
      by: ({ worker }) => worker ?? -1,
      cell: ({ worker }) => (worker === null ? "session" : `worker ${worker}`),
    },
    { name: "Size", isNumber: true, by: (file) => file.bytes, cell: (file) => bytes(file.bytes) },
    {
      name: "Written",
      isNumber: true,
      by: ({ modified }) => modified,
      cell: ({ modified }) => dateTime(epoch + modified),
    },
    {
      name: "Download",
      cell: (file) => (
        <a href={downloadAddress(file.name)} download={file.name}>
          Download<span class="sr"> {file.name}</span>
        </a>
      ),
    },
  ];
  return (
    <>
      {name !== undefined && <LogView key={name} name={name} />}
      <Panel title="Logs">
        {error !== null && <Failure what="The logs" error={error} />}
        {data === null && error === null && <Waiting what="the logs" />}
        {data !== null && data.length === 0 && (
          <Empty title="This session has no logs.">
            What workers and the supervisor write is kept here, a file each.
          </Empty>
        )}
        {data !== null && data.length > 0 && (
          <DataTable
            label="Logs"
            rows={data}
            columns={columns}
            id={(file) => file.name}
            sorted="−Written"
            first={100}
          />
        )}
      </Panel>
    </>
  );
}
