/**
 * Makes the tables at a scale, or the missing part of them. Files have 1.5 M rows each, and a larger scale reuses those
 * of a smaller one. A scale that ends inside a file gets a separate file for the rest.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { dropIfOutdated, type FileOrder } from "./files.ts";
import { type FlatTable, ROWS_PER_FILE, tableRows, tableSql } from "./tables.ts";
import { noTpchFiles, TPCH_TABLES, type TpchTable, tpchFiles, tpchScale } from "./tpch/index.ts";

/** "tpch": all eight tables of TPC-H, at the scale at which lineitem has this many rows. */
export type TableName = FlatTable | "tpch";

export const TABLE_NAMES: readonly TableName[] = ["lineitem", "orders", "tpch"];

export interface MakeOptions {
  readonly directory: string;
  /** The compiled make-data program. */
  readonly program: string;
  readonly tables: readonly TableName[];
  /** Rows of lineitem; the sizes of other tables follow. */
  readonly rows: number;
  readonly onFile: (path: string, left: number) => void;
  /** Ends the program. Incomplete files are left under another name. */
  readonly signal?: AbortSignal;
}

export interface MadeTables extends Readonly<Record<FlatTable, readonly string[]>> {
  readonly tpch: Readonly<Record<TpchTable, readonly string[]>>;
}

export async function makeTables(options: MakeOptions): Promise<MadeTables> {
  const made: Record<FlatTable, string[]> & { tpch: Record<TpchTable, string[]> } = {
    lineitem: [],
    orders: [],
    tpch: noTpchFiles(),
  };
  const missing: FileOrder[] = [];
  const keep = (files: readonly FileOrder[]): string[] => {
    missing.push(...files.filter((file) => !existsSync(file.path)));
    return files.map((file) => file.path);
  };
  for (const table of options.tables) {
    if (table === "tpch") {
      const directory = join(options.directory, table);
      const scale = tpchScale(options.rows);
      for (const one of TPCH_TABLES) made.tpch[one] = keep(await tpchFiles(directory, one, scale));
    } else {
      const directory = join(options.directory, table);
      await dropIfOutdated(directory, tableSql(table, 0, ROWS_PER_FILE));
      made[table] = keep(filesOf(directory, table, tableRows(table, options.rows)));
    }
  }
  if (missing.length > 0) {
    await runProgram(options, missing);
  }
  return made;
}

function filesOf(directory: string, table: FlatTable, rows: number): FileOrder[] {
  const files: FileOrder[] = [];
  for (let first = 0; first < rows; first += ROWS_PER_FILE) {
    const part = `part-${String(first / ROWS_PER_FILE).padStart(3, "0")}`;
    const end = Math.min(first + ROWS_PER_FILE, rows);
    const name = end - first === ROWS_PER_FILE ? part : `${part}-first-${end - first}`;
    files.push({ path: join(directory, `${name}.parquet`), sql: tableSql(table, first, end) });
  }
  return files;
}

function runProgram({ program, onFile, signal }: MakeOptions, files: readonly FileOrder[]): Promise<void> {
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"], signal });
  let left = files.length;
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (text + chunk).split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) {
      left -= 1;
      onFile((JSON.parse(line) as { written: string }).written, left);
    }
  });
  // If the program ends before it has read everything, its exit tells so.
  child.stdin.on("error", () => undefined);
  child.stdin.end(JSON.stringify(files));
  return new Promise((resolve, reject) => {
    // An abort is an error, too, but the program may write files until it has ended.
    child.on("error", (error) => child.pid === undefined && reject(error));
    child.on("close", (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`Making the tables failed: ${program} ended with ${signal ?? code}.`)),
    );
  });
}
