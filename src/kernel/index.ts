/** The kernel: DuckDB behind SQL text, Arrow batches and errors. Code outside this folder does not know DuckDB. */
export type { Connection } from "./connection.ts";
export { OUT_OF_MEMORY } from "./failure.ts";
export { Kernel, settingsSql } from "./kernel.ts";
export { type DeclaredColumn, NO_COLUMN, StoredTable, storedType } from "./stored-table.ts";
export type { KernelStream } from "./stream.ts";
export type { KernelTable } from "./tables.ts";
export { hasUntypedNulls } from "./untyped-nulls.ts";
export { countedForVectors, namedColumns } from "./wide.ts";
