/**
 * Files of generated tables: the query that makes a file, how it is written, and when files of an older query are
 * removed.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface FileOrder {
  readonly path: string;
  /** SQL that returns the rows. */
  readonly sql: string;
}

/** A file gets its name when it is complete, so an interrupted run leaves no incomplete file under that name. */
export async function writeParquet(file: FileOrder, execute: (sql: string) => unknown): Promise<void> {
  const unfinished = `${file.path}.unfinished`;
  await execute(`COPY (${file.sql}) TO '${unfinished.replaceAll("'", "''")}' (FORMAT parquet)`);
  await rename(unfinished, file.path);
}

/** Empties the directory unless its files were made by the same query. */
export async function dropIfOutdated(directory: string, madeBy: string): Promise<void> {
  const stamp = join(directory, "made-by.sha256");
  const current = createHash("sha256").update(madeBy).digest("hex");
  const found = existsSync(stamp) ? await readFile(stamp, "utf8") : null;
  if (found !== current) {
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true });
    await writeFile(stamp, current);
  }
}
