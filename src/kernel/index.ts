/** The kernel: DuckDB behind SQL text, Arrow batches and errors. Nothing outside of this folder knows of it. */
export type { Connection } from "./connection.ts";
export { OUT_OF_MEMORY } from "./failure.ts";
export { Kernel, type KernelOptions, type KernelSettings, settingsSql } from "./kernel.ts";
export { type DeclaredColumn, NO_COLUMN, StoredTable } from "./stored-table.ts";
export type { KernelStream } from "./stream.ts";
export type { KernelTable } from "./tables.ts";
