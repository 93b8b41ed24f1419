/** Counts rows and keeps none. If the last step is SQL, the kernel counts, and only the number arrives here. */
import { type RecordBatch, toRows } from "../../arrow/index.ts";
import type { TaskSink } from "./sink.ts";

export class CountSink implements TaskSink {
  rows = 0;
  readonly bytes = 0;
  readonly unsealed = { rows: 0, bytes: 0 };
  readonly files = [];
  readonly takesEach = true;
  readonly wanted = Number.POSITIVE_INFINITY;

  constructor(private readonly counted: "here" | "by the kernel") {}

  push(batch: RecordBatch): void {
    if (this.counted === "here") this.rows += batch.length;
    else for (const row of toRows(batch, {})) this.rows += Number(row.n);
  }

  end(): void {}
  close(): void {}
}

/** SQL that returns the numbers which a `CountSink("by the kernel")` adds up. */
export function countSql(sql: string): string {
  return `SELECT count(*) AS n FROM (${sql})`;
}
