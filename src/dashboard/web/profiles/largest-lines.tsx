/** Answers which line holds the memory: the own bytes of each line, summed over all paths that lead to it. */
import { useMemo } from "preact/hooks";
import type { FlameNode } from "../../api.ts";
import { bytes, percent } from "../format.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";

interface Line {
  readonly id: string;
  readonly name: string;
  readonly place: string | null;
  readonly kind: FlameNode["kind"];
  own: number;
}

export function LargestLines({ root }: { readonly root: FlameNode }) {
  const lines = useMemo(() => linesOf(root), [root]);
  const columns: readonly Column<Line>[] = [
    { name: "Function", isHeading: true, by: ({ name }) => name, cell: ({ name }) => <bdi>{name.slice(0, 200)}</bdi> },
    { name: "Line", by: ({ place }) => place ?? "", cell: ({ place }) => <code>{place ?? "–"}</code> },
    { name: "Kind", by: ({ kind }) => kind, cell: ({ kind }) => kind },
    { name: "Own", isNumber: true, by: ({ own }) => own, cell: ({ own }) => bytes(own) },
    { name: "Share", isNumber: true, by: ({ own }) => own, cell: ({ own }) => percent(own / Math.max(1, root.total)) },
  ];
  return (
    <DataTable
      label="Lines with the most memory"
      rows={lines}
      columns={columns}
      id={({ id }) => id}
      sorted="−Own"
      first={15}
    />
  );
}

function linesOf(root: FlameNode): readonly Line[] {
  const found = new Map<string, Line>();
  // A loop, because a profile may be too deep for recursion.
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const child of node.children) open.push(child);
    if (node.own <= 0) continue;
    const { name, place, kind, own } = node;
    const id = `${name}\n${place}\n${kind}`;
    const line = found.get(id);
    if (line === undefined) found.set(id, { id, name, place, kind, own });
    else line.own += own;
  }
  return [...found.values()].sort((a, b) => b.own - a.own).slice(0, 500);
}
