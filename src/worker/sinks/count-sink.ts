/** Counts rows and keeps none. Where SQL comes last the kernel counts, and only its figure arrives here. */
import { type RecordBatch, toRows } from "../../arrow/index.ts";
import type { TaskSink } from "./sink.ts";

export class CountSink implements TaskSink {
  rows = 0;
  readonly bytes = 0;
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

/** The SQL whose answers a `CountSink("by the kernel")` adds up. */
export function countSql(sql: string): string {
  return `SELECT count(*) AS n FROM (${sql})`;
}
