/**
 * Writes table files, two at once (a generating query runs on one thread). Orders come as JSON on stdin: a query
 * per file is more than an argument may hold. A file appears under its name when it is whole, so an interrupted run leaves nothing that looks finished.
 */
import { rename } from "node:fs/promises";
import { json } from "node:stream/consumers";
import { openDatabase } from "./duckdb.ts";

export interface FileOrder {
  readonly path: string;
  readonly sql: string;
}

const waiting = (await json(process.stdin)) as FileOrder[];
const database = await openDatabase(2);

async function writeFiles(): Promise<void> {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const unfinished = `${file.path}.unfinished`;
    await database.execute(`COPY (${file.sql}) TO '${unfinished.replaceAll("'", "''")}' (FORMAT parquet)`);
    await rename(unfinished, file.path);
    process.stdout.write(`${JSON.stringify({ written: file.path })}\n`);
  }
}

await Promise.all([writeFiles(), writeFiles()]);
database.close();
