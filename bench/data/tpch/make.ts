/** The files of TPC-H's tables at a scale; missing files are written in this process. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { dropIfOutdated, type FileOrder, writeParquet } from "../files.ts";
import { TPCH_TABLES, type TpchTable, tpchFileQueries } from "./tables.ts";

export type TpchFiles = Readonly<Record<TpchTable, readonly string[]>>;

export interface TpchOptions {
  readonly directory: string;
  /** 1 means 6 M line items. */
  readonly scale: number;
  /** Runs a statement in DuckDB. */
  readonly execute: (sql: string) => unknown;
}

export async function makeTpch({ directory, scale, execute }: TpchOptions): Promise<TpchFiles> {
  const made = noTpchFiles();
  for (const table of TPCH_TABLES) {
    const orders = await tpchFiles(directory, table, scale);
    for (const order of orders.filter(({ path }) => !existsSync(path))) await writeParquet(order, execute);
    made[table] = orders.map(({ path }) => path);
  }
  return made;
}

export function noTpchFiles(): Record<TpchTable, string[]> {
  return { region: [], nation: [], supplier: [], customer: [], part: [], partsupp: [], orders: [], lineitem: [] };
}

/** The files of a table, in a folder for the table and the scale. Files of an older query are removed from it. */
export async function tpchFiles(directory: string, table: TpchTable, scale: number): Promise<FileOrder[]> {
  const folder = join(directory, `scale-${scale}`, table);
  const queries = tpchFileQueries(table, scale);
  await dropIfOutdated(folder, queries.join("\n"));
  return queries.map((sql, n) => ({ path: join(folder, `part-${String(n).padStart(3, "0")}.parquet`), sql }));
}
