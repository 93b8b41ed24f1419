/** Reads a source. Rules move into it what the reader can do by itself: which columns, which rows, how many. */
import type { Expression } from "../expression/index.ts";
import type { OpenSource, RowSample, Source } from "../source.ts";

export interface ScanNode {
  readonly kind: "scan";
  readonly source: Source;
  /** Set when the plan is resolved. */
  readonly open: OpenSource | null;
  /** The columns it gives, in this order; null: all. */
  readonly columns: readonly string[] | null;
  /** Conditions on the source's columns, all applied. */
  readonly filters: readonly Expression[];
  readonly samples: readonly RowSample[];
  /** The most rows that are needed; only a hint where reading may stop. */
  readonly limit: number | null;
}

export function scan(source: Source): ScanNode {
  return Object.freeze({ kind: "scan", source, open: null, columns: null, filters: [], samples: [], limit: null });
}
