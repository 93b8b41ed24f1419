/** The figures of the graph as a sortable table. */

import type { OperatorCard } from "../../api.ts";
import { titleOf } from "../../model/operator-title.ts";
import { bytes, count, duration, wholePercent } from "../format.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { OperatorName } from "../parts/operator-name.tsx";
import { heldNow, heldSoFar } from "../status/held.ts";
import { marksOf } from "./marks.ts";

export function OperatorTable({ cards, now }: { readonly cards: readonly OperatorCard[]; readonly now: number }) {
  const marks = marksOf(cards);
  const columns: readonly Column<OperatorCard>[] = [
    {
      name: "Operator",
      isHeading: true,
      by: ({ plan }) => titleOf(plan),
      cell: ({ job, id, plan }) => <OperatorName name={titleOf(plan)} of={`${job}/${id}`} />,
    },
    { name: "Marks", cell: ({ id }) => (marks.get(id) ?? []).join(", ") },
    {
      name: "Tasks",
      isNumber: true,
      by: ({ done }) => done,
      cell: ({ done, tasks }) => `${count(done)} / ${count(tasks)}`,
    },
    {
      name: "Done",
      isNumber: true,
      by: ({ share }) => share ?? -1,
      cell: ({ share }) => (share === null ? "–" : wholePercent(share)),
    },
    { name: "Rows in", isNumber: true, by: ({ rowsIn }) => rowsIn, cell: ({ rowsIn }) => count(rowsIn) },
    { name: "Rows out", isNumber: true, by: ({ rowsOut }) => rowsOut, cell: ({ rowsOut }) => count(rowsOut) },
    { name: "Bytes out", isNumber: true, by: ({ bytesOut }) => bytesOut, cell: ({ bytesOut }) => bytes(bytesOut) },
    { name: "Peak", isNumber: true, by: ({ peakMemory }) => peakMemory, cell: ({ peakMemory }) => bytes(peakMemory) },
    { name: "Time of tasks", isNumber: true, by: ({ wall }) => wall, cell: ({ wall }) => duration(wall) },
    { name: "CPU", isNumber: true, by: ({ cpu }) => cpu, cell: ({ cpu }) => duration(cpu) },
    { name: "Longest task", isNumber: true, by: ({ longest }) => longest, cell: ({ longest }) => duration(longest) },
    { name: "Held back", cell: (card) => heldWords(card, now) },
  ];
  return <DataTable label="Operators of the job" rows={cards} columns={columns} id={({ id }) => id} />;
}

export function heldWords(card: OperatorCard, now: number): string {
  const held = heldNow(card, now);
  if (held !== null) return `by ${held}`;
  const before = heldSoFar(card).map(([reason, time]) => `${reason} ${duration(time)}`);
  return before.length === 0 ? "–" : `before: ${before.join(", ")}`;
}
