/** Files of generated tables: what one is made by, how it is written, and when those of an older maker must go. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface FileOrder {
  readonly path: string;
  /** Gives the rows. */
  readonly sql: string;
}

/** A file appears under its name when it is whole, so an interrupted run leaves nothing that looks finished. */
export async function writeParquet(file: FileOrder, execute: (sql: string) => unknown): Promise<void> {
  const unfinished = `${file.path}.unfinished`;
  await execute(`COPY (${file.sql}) TO '${unfinished.replaceAll("'", "''")}' (FORMAT parquet)`);
  await rename(unfinished, file.path);
}

/** An empty directory unless what it holds was made by the same query. */
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
