/**
 * Makes the tables at a scale, or what is missing of them. Files hold 1.5 M rows each, and a larger scale reuses those
 * of a smaller one; a scale that ends inside a file gets a file of its own for the rest.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { dropIfOutdated, type FileOrder } from "./files.ts";
import { ROWS_PER_FILE, type TableName, tableRows, tableSql } from "./tables.ts";

export interface MakeOptions {
  readonly directory: string;
  /** The compiled make-data program. */
  readonly program: string;
  readonly tables: readonly TableName[];
  /** Rows of lineitem; other tables follow. */
  readonly rows: number;
  readonly onFile: (path: string, left: number) => void;
}

export type MadeTables = Readonly<Record<TableName, readonly string[]>>;

export async function makeTables(options: MakeOptions): Promise<MadeTables> {
  const made: Record<TableName, readonly string[]> = { lineitem: [], orders: [] };
  const missing: FileOrder[] = [];
  for (const table of options.tables) {
    const directory = join(options.directory, table);
    await dropIfOutdated(directory, tableSql(table, 0, ROWS_PER_FILE));
    const files = filesOf(directory, table, tableRows(table, options.rows));
    missing.push(...files.filter((file) => !existsSync(file.path)));
    made[table] = files.map((file) => file.path);
  }
  if (missing.length > 0) {
    await runProgram(options.program, missing, options.onFile);
  }
  return made;
}

function filesOf(directory: string, table: TableName, rows: number): FileOrder[] {
  const files: FileOrder[] = [];
  for (let first = 0; first < rows; first += ROWS_PER_FILE) {
    const part = `part-${String(first / ROWS_PER_FILE).padStart(3, "0")}`;
    const end = Math.min(first + ROWS_PER_FILE, rows);
    const name = end - first === ROWS_PER_FILE ? part : `${part}-first-${end - first}`;
    files.push({ path: join(directory, `${name}.parquet`), sql: tableSql(table, first, end) });
  }
  return files;
}

function runProgram(program: string, files: readonly FileOrder[], onFile: MakeOptions["onFile"]): Promise<void> {
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
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
  child.stdin.end(JSON.stringify(files));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`Making the tables failed: ${program} ended with ${signal ?? code}.`)),
    );
  });
}
