/** Parts of row groups: a read may be cut inside a group, and a stretch of a read has some rows of each file. */
import type { Bytes } from "../../protocol/index.ts";
import type { RowGroup } from "./row-groups.ts";

/** By path: rows [start, end) of the file. */
export type RowsByFile = ReadonlyMap<string, { readonly start: number; readonly end: number }>;

export function rowsIn(groups: readonly RowGroup[]): number {
  return groups.reduce((sum, group) => sum + group.rows, 0);
}

export function bytesIn(groups: readonly RowGroup[]): Bytes {
  return groups.reduce((sum, group) => sum + group.bytes, 0);
}

/** Rows [start, end) of the file, which lie inside the group. */
export function part(group: RowGroup, start: number, end: number): RowGroup {
  const rows = end - start;
  return { ...group, start, rows, bytes: (group.bytes * rows) / group.rows };
}

/** Neighbouring groups as ranges of rows of their files. */
export function rowsByFile(groups: readonly RowGroup[]): RowsByFile {
  const found = new Map<string, { start: number; end: number }>();
  for (const { path, start, rows } of groups) {
    const end = start + rows;
    const before = found.get(path);
    if (before === undefined) found.set(path, { start, end });
    else before.end = end;
  }
  return found;
}

/** The parts of the groups that lie inside the rows. */
export function within(groups: readonly RowGroup[], rows: RowsByFile | null): readonly RowGroup[] {
  if (rows === null) return groups;
  return groups.flatMap((group) => {
    const wanted = rows.get(group.path);
    if (wanted === undefined) return [];
    const start = Math.max(group.start, wanted.start);
    const end = Math.min(group.start + group.rows, wanted.end);
    return end > start ? [part(group, start, end)] : [];
  });
}
