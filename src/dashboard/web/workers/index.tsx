/**
 * Every worker: its limit, its memory, its task, and the restarts of its slot. A worker can be profiled from here. Below
 * them, the settings that workers go by.
 */
import type { SettingRow, WorkerCard } from "../../api.ts";
import type { PageProps } from "../app.tsx";
import { useAnswer } from "../fetching.ts";
import { bytes, clock, count, duration, short } from "../format.ts";
import { useEpoch, useLive } from "../live/index.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty, Failure } from "../parts/empty.tsx";
import { type Fact, Facts } from "../parts/facts.tsx";
import { Panel } from "../parts/panel.tsx";
import { SettingsTable } from "../parts/settings-table.tsx";
import { stepWords } from "../parts/steps.ts";
import { address } from "../route.ts";
import { stateWords } from "../status/bars.ts";
import { ProfileButton } from "./profile-button.tsx";

export function Workers({ route }: PageProps) {
  const { workers, session } = useLive("workers", "session");
  const epoch = useEpoch();
  const now = session?.at ?? 0;
  const all = [...workers.values()];
  const chosen = Number(route.rest[0] ?? -1);
  const columns = columnsOf(epoch, now, session?.status === "running");
  return (
    <>
      <Panel title="Workers" aside={<span class="muted">{count(all.length)}</span>}>
        {all.length === 0 ? (
          <Empty title="No worker has started.">
            Each worker is listed here with its process, limits, memory, task and restarts.
          </Empty>
        ) : (
          <DataTable
            label="Workers"
            rows={chosen >= 0 ? [...all].sort((a, b) => Number(b.id === chosen) - Number(a.id === chosen)) : all}
            columns={columns}
            id={({ id }) => id}
            rowClass={({ id }) => (id === chosen ? "chosen" : "")}
            first={100}
          />
        )}
      </Panel>
      <WorkerSettings />
    </>
  );
}

/** Settings that workers go by. */
const OF_WORKERS =
  /^(workers?|worker[.A-Z].*|memoryLimit|resourceLimits\.(cpu|gpu|memory)|measure|allocator|mallocTrimThreshold|data)$/;

function WorkerSettings() {
  const { session, totals } = useLive("session", "totals");
  const { data, error } = useAnswer<readonly SettingRow[]>("api/settings");
  if (session === null) return null;
  const limit = totals?.workerLimit ?? null;
  const facts: readonly Fact[] = [
    ["Tasks at once", `${count(session.slots)}, one in each worker`],
    ["Threads of the kernel", `1 in each worker, up to ${count(session.kernelThreads)} in the wide kernel`],
    ["Memory limit", limit === null ? "none, so the steps below do not apply" : `${bytes(limit)} for each worker`],
    ["Steps of a worker", stepWords(session, limit)],
  ];
  const rows = (data ?? []).filter(({ path }) => OF_WORKERS.test(path));
  return (
    <Panel title="Settings of workers" aside={<a href={address("settings")}>All settings</a>}>
      <Facts facts={facts} />
      {error !== null && <Failure what="The settings" error={error} />}
      {rows.length > 0 && <SettingsTable label="Settings of workers" rows={rows} />}
    </Panel>
  );
}

function columnsOf(epoch: number, now: number, isRunning: boolean): readonly Column<WorkerCard>[] {
  return [
    { name: "Worker", isHeading: true, by: ({ id }) => id, cell: ({ id, kind }) => `${kind} ${id}` },
    { name: "Pid", isNumber: true, by: ({ pid }) => pid ?? -1, cell: ({ pid }) => pid ?? "–" },
    { name: "State", by: ({ phase }) => phase, cell: ({ phase }) => phase },
    {
      name: "Memory",
      by: ({ pressure }) => pressure,
      cell: (worker) => (
        <span class="with-swatch">
          <span class={`swatch ${worker.colour} managed`} aria-hidden="true" /> {stateWords(worker)}
        </span>
      ),
    },
    {
      name: "Process",
      isNumber: true,
      by: ({ kinds }) => kinds?.process ?? -1,
      cell: ({ kinds }) => bytes(kinds?.process),
    },
    { name: "Private", isNumber: true, by: (worker) => worker.private, cell: (worker) => bytes(worker.private) },
    {
      name: "Spilled",
      isNumber: true,
      by: ({ kinds }) => kinds?.spilled ?? -1,
      cell: ({ kinds }) => bytes(kinds?.spilled),
    },
    {
      name: "Limit",
      isNumber: true,
      by: ({ limit }) => limit ?? -1,
      cell: ({ limit }) => (limit === null ? "none" : bytes(limit)),
    },
    { name: "Children", isNumber: true, by: ({ children }) => children, cell: ({ children }) => count(children) },
    {
      name: "Descriptors",
      isNumber: true,
      by: ({ descriptors }) => descriptors ?? -1,
      cell: ({ descriptors }) => count(descriptors),
    },
    { name: "Restarts", isNumber: true, by: ({ restarts }) => restarts, cell: ({ restarts }) => count(restarts) },
    {
      name: "Started",
      isNumber: true,
      by: ({ startedAt }) => startedAt,
      cell: ({ startedAt }) => clock(epoch, startedAt),
    },
    { name: "Task", class: "task-cell", cell: ({ task }) => <TaskWords task={task} now={now} /> },
    { name: "Heap profile", cell: (worker) => <ProfileButton worker={worker} isRunning={isRunning} /> },
  ];
}

function TaskWords({ task, now }: { readonly task: WorkerCard["task"]; readonly now: number }) {
  if (task === null) return <>–</>;
  return (
    <>
      <bdi>{short(task.operator, 100)}</bdi>, for {duration(now - task.startedAt)}
    </>
  );
}
