/** Heap profiles: the list, or one flame graph when the address names it. */
import type { FlameProfile, ProfileFile } from "../../api.ts";
import type { PageProps } from "../app.tsx";
import { useAnswer } from "../fetching.ts";
import { bytes, dateTime, short } from "../format.ts";
import { useEpoch } from "../live/index.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty, Failure, Waiting } from "../parts/empty.tsx";
import { Panel } from "../parts/panel.tsx";
import { address } from "../route.ts";
import { FlamePanel } from "./flame-panel.tsx";

function fileAddress(name: string): string {
  return `api/profiles/${encodeURIComponent(name)}`;
}

export function Profiles({ route }: PageProps) {
  const { data, error } = useAnswer<readonly ProfileFile[]>("api/profiles", 5000);
  const [name] = route.rest;
  return (
    <>
      {name !== undefined && <OneProfile key={name} name={name} />}
      <Panel title="Heap profiles">
        {error !== null && <Failure what="The profiles" error={error} />}
        {data === null && error === null && <Waiting what="the profiles" />}
        {data !== null && data.length === 0 && (
          <Empty title="No heap profile has been taken.">
            The page <a href={address("workers")}>Workers</a> takes one of a running worker; the option{" "}
            <code>profile</code> of a function takes one of each of its tasks. They say which lines hold the memory.
          </Empty>
        )}
        {data !== null && data.length > 0 && <ProfileTable files={data} />}
      </Panel>
    </>
  );
}

function ProfileTable({ files }: { readonly files: readonly ProfileFile[] }) {
  const epoch = useEpoch();
  const columns: readonly Column<ProfileFile>[] = [
    {
      name: "Profile",
      isHeading: true,
      by: (file) => file.name,
      cell: (file) => <a href={address("profiles", file.name)}>{short(file.name, 120)}</a>,
    },
    { name: "Worker", isNumber: true, by: ({ worker }) => worker ?? -1, cell: ({ worker }) => worker ?? "–" },
    {
      name: "Operator",
      by: ({ operator }) => operator ?? "",
      cell: ({ operator }) => <bdi>{short(operator ?? "–", 120)}</bdi>,
    },
    { name: "Size", isNumber: true, by: (file) => file.bytes, cell: (file) => bytes(file.bytes) },
    {
      name: "Taken",
      isNumber: true,
      by: ({ modified }) => modified,
      cell: ({ modified }) => dateTime(epoch + modified),
    },
    {
      name: "For DevTools, speedscope",
      cell: (file) => (
        <a href={fileAddress(file.name)} download={file.name}>
          Download<span class="sr"> {file.name}</span>
        </a>
      ),
    },
  ];
  return <DataTable label="Heap profiles" rows={files} columns={columns} id={(file) => file.name} sorted="−Taken" />;
}

function OneProfile({ name }: { readonly name: string }) {
  const { data, error } = useAnswer<FlameProfile>(`${fileAddress(name)}/flame`);
  if (data !== null) return <FlamePanel name={name} profile={data} download={fileAddress(name)} />;
  return (
    <Panel title={short(name, 120)}>
      {error === null ? <Waiting what="the profile" /> : <Failure what="The profile" error={error} />}
    </Panel>
  );
}
