/** What a stage reads from outside, and what it hands on, as far as planning knows it. Estimates start from this. */
import type { Plan, ScanNode, ScanSplits } from "../plan/index.ts";
import type { Bytes, Split } from "../protocol/index.ts";

/** Rows and bytes that are read, before any condition; null: the source does not tell. */
export interface StageRead {
  readonly scan: ScanNode;
  readonly rows: number | null;
  readonly bytes: Bytes | null;
}

/** The rows of a plan; `some`: a part of what was made from them. */
export interface Made {
  readonly plan: Plan;
  readonly some: boolean;
}

export function readOf(scan: ScanNode, { splits, parts }: ScanSplits): StageRead {
  const all = parts?.flatMap((part) => part.splits) ?? splits;
  return { scan, rows: sum(all.map(rowsOf)), bytes: sum(all.map(bytesOf)) };
}

export const someOf = (makes: Made | null): Made | null => (makes === null ? null : { ...makes, some: true });

function rowsOf(split: Split): number | null {
  if (split.kind === "blocks") return split.slices.reduce((rows, { start, end }) => rows + end - start, 0);
  return split.kind === "sql" ? (split.rows ?? null) : null;
}

function bytesOf(split: Split): Bytes | null {
  if (split.kind !== "blocks") return null;
  return split.slices.reduce(
    (bytes, { block, start, end }) => bytes + (block.length * (end - start)) / Math.max(1, block.rows),
    0,
  );
}

function sum(parts: readonly (number | null)[]): number | null {
  return parts.reduce((all, part) => (all === null || part === null ? null : all + part), 0);
}
