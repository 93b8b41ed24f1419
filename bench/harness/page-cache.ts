import { createReadStream } from "node:fs";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { MadeTables } from "../data/index.ts";

/** Reads the tables into the page cache, so that the first engine does not wait for the disk. */
export async function readIntoPageCache({ tpch, ...flat }: MadeTables): Promise<void> {
  for (const file of [...Object.values(flat), ...Object.values(tpch)].flat()) {
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), nowhere);
  }
}
