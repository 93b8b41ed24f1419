/**
 * Writes a report or a trace under a temporary name, then renames it, so a file with the final name is always complete.
 */
import { randomBytes } from "node:crypto";
import { createWriteStream, existsSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { SourceError, WriteError } from "../errors/index.ts";
import { readRecords } from "../events/index.ts";
import { messageOf } from "../realm/index.ts";
import { gather } from "./gather.ts";
import { type PageFacts, pageOf } from "./page.ts";
import { traceOf } from "./trace.ts";

/** `directory` holds the session's logs. */
export function reportText(directory: string, facts: PageFacts): string {
  return pageOf(gather(readRecords(directory)), facts);
}

export async function writeReport(directory: string, facts: PageFacts, path: string): Promise<void> {
  const page = reportText(directory, facts);
  await whole(path, (part) => writeFile(part, page));
}

export async function writeTrace(directory: string, path: string): Promise<void> {
  await whole(path, (part) => pipeline(pieces(directory), createWriteStream(part)));
}

export async function sendTrace(directory: string, stream: NodeJS.WritableStream): Promise<void> {
  await pipeline(pieces(directory), stream, { end: false });
}

const PIECE = 64 << 10;

function pieces(directory: string): Readable {
  return Readable.from(joined(traceOf(readRecords(directory))), { objectMode: false });
}

/** Joins texts into larger pieces: each piece costs the stream more than making one event's text. */
function* joined(texts: Iterable<string>): Iterable<string> {
  let piece = "";
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

/** In words that name what the user knows: the path and its directory, not the temporary name. */
function whyNot(error: unknown, path: string, part: string): string {
  const directory = dirname(path);
  if (!existsSync(directory)) return `there is no directory ${directory}`;
  return messageOf(error).replace(` '${part}' -> '${path}'`, ` '${path}'`).replaceAll(part, path);
}

async function whole(path: string, write: (part: string) => Promise<void>): Promise<void> {
  const part = `${path}.${randomBytes(4).toString("hex")}.part`;
  try {
    await write(part);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    // The session's events cannot be read, whatever the path.
    if (error instanceof SourceError) throw error;
    throw new WriteError(`${path} cannot be written: ${whyNot(error, path, part)}.`, path);
  }
}
