/** Tasks of an operator, the longest first. */
import type { TaskCard } from "../../api.ts";
import { bytes, clock, count, duration } from "../format.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { address } from "../route.ts";

function timeOf({ startedAt, endedAt }: TaskCard): number {
  return startedAt === null || endedAt === null ? -1 : endedAt - startedAt;
}

export function TaskTable({ tasks, epoch }: { readonly tasks: readonly TaskCard[]; readonly epoch: number }) {
  const columns: readonly Column<TaskCard>[] = [
    { name: "Task", isNumber: true, isHeading: true, by: ({ index }) => index, cell: ({ index }) => count(index) },
    {
      name: "Worker",
      isNumber: true,
      by: ({ worker }) => worker ?? -1,
      cell: ({ worker }) => (worker === null ? "–" : <a href={address("workers", worker)}>{worker}</a>),
    },
    { name: "State", by: ({ phase }) => phase, cell: ({ phase }) => phase },
    {
      name: "Started",
      isNumber: true,
      by: ({ startedAt }) => startedAt ?? -1,
      cell: ({ startedAt }) => (startedAt === null ? "–" : clock(epoch, startedAt, true)),
    },
    { name: "Time", isNumber: true, by: timeOf, cell: (task) => (timeOf(task) < 0 ? "–" : duration(timeOf(task))) },
    { name: "Rows in", isNumber: true, by: ({ rowsIn }) => rowsIn, cell: ({ rowsIn }) => count(rowsIn) },
    { name: "Rows out", isNumber: true, by: ({ rowsOut }) => rowsOut, cell: ({ rowsOut }) => count(rowsOut) },
    { name: "Bytes in", isNumber: true, by: ({ bytesIn }) => bytesIn ?? -1, cell: ({ bytesIn }) => bytes(bytesIn) },
    { name: "Bytes out", isNumber: true, by: ({ bytesOut }) => bytesOut, cell: ({ bytesOut }) => bytes(bytesOut) },
    { name: "Memory", isNumber: true, by: ({ memory }) => memory ?? -1, cell: ({ memory }) => bytes(memory) },
    { name: "Peak", isNumber: true, by: ({ peakMemory }) => peakMemory, cell: ({ peakMemory }) => bytes(peakMemory) },
    { name: "Attempts", isNumber: true, by: ({ attempts }) => attempts, cell: ({ attempts }) => count(attempts) },
  ];
  return <DataTable label="Tasks" rows={tasks} columns={columns} id={({ id }) => id} sorted="−Time" />;
}
