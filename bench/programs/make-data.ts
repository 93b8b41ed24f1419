/**
 * Writes table files, two at a time (a generating query runs on one thread). The list comes as JSON on stdin, because a
 * query per file is more than an argument can hold.
 */
import { json } from "node:stream/consumers";
import { type FileOrder, writeParquet } from "../data/files.ts";
import { openDatabase } from "./duckdb.ts";

const waiting = (await json(process.stdin)) as FileOrder[];
const database = await openDatabase(2);

async function writeFiles(): Promise<void> {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    await writeParquet(file, (sql) => database.execute(sql));
    process.stdout.write(`${JSON.stringify({ written: file.path })}\n`);
  }
}

await Promise.all([writeFiles(), writeFiles()]);
database.close();
