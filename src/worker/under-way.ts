/** What a task has done so far while it runs: which part of it has the figures depends on what it reads and writes. */
import { statSync } from "node:fs";
import type { Bytes, ToldProgress } from "../protocol/index.ts";
import type { Chain } from "./chain.ts";
import type { FedTables } from "./fed-tables.ts";

export class UnderWay {
  chain: Chain | null = null;
  tables: FedTables | null = null;
  /** A file that the kernel writes by itself. */
  file: string | null = null;
  /** Rows of the blocks that it reads; null: it reads something else. */
  rows: number | null = null;
  /** Rows that it has read. */
  rowsIn = 0;

  /** `kernelShare`: the part of its query that the kernel says is done; null: it does not know. */
  progress(kernelShare: () => number | null): Omit<ToldProgress, "peakMemory"> {
    const { chain, tables, file, rows, rowsIn } = this;
    const { rows: unsealed, bytes } = chain?.sink.unsealed ?? { rows: 0, bytes: 0 };
    return {
      rowsIn: tables?.taken ?? rowsIn,
      rowsOut: (chain?.sink.rows ?? 0) + (chain?.made?.held ?? 0) + unsealed,
      bytesOut: file === null ? (chain?.sink.bytes ?? 0) + bytes : sizeOf(file),
      share: rows === null ? kernelShare() : Math.min(1, rowsIn / Math.max(1, rows)),
    };
  }
}

/** 0 if there is no file yet. */
function sizeOf(path: string): Bytes {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
