/**
 * The format of event files. A file of another format may lack fields that its readers count on, so it is refused. The
 * format is in the event `sessionStarted`, which is also a part of every snapshot: at the beginning of each segment.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { basename, join } from "node:path";
import { SourceError } from "../errors/index.ts";
import { type Bytes, EVENT_FORMAT, type SessionFact } from "../protocol/index.ts";
import { segmentsIn } from "./segments.ts";

/** More than comes before the format. */
const HEAD: Bytes = 4_096;
const STARTED = /"type":"sessionStarted"(?:,"format":(\d+))?/;

/** False if another version of Spillway wrote the events of the session. True as long as there are none. */
export function isReadable(directory: string): boolean {
  const found = STARTED.exec(headOf(directory));
  return found === null || found[1] === String(EVENT_FORMAT);
}

/** Throws if another version of Spillway wrote the events of the session. */
export function assertReadable(directory: string): void {
  if (isReadable(directory)) return;
  throw otherFormat(basename(directory), STARTED.exec(headOf(directory))?.[1]);
}

/** As `assertReadable`, for a running session. */
export function assertFormat(started: Extract<SessionFact, { type: "sessionStarted" }> | null): void {
  if (started === null || started.format === EVENT_FORMAT) return;
  throw otherFormat(started.session, started.format);
}

/** A file of the first versions has no format. */
function otherFormat(session: string, format: string | number | undefined): SourceError {
  const written = format === undefined ? "no format version" : `format version ${format}`;
  return new SourceError(
    `Session ${session} was written by another version of Spillway: its events have ${written}, and this version of Spillway reads format version ${EVENT_FORMAT}. Open the session with the version of Spillway that wrote it.`,
    session,
  );
}

/** The beginning of the oldest segment; "" if there is none, or it cannot be read. */
function headOf(directory: string): string {
  let fd: number | null = null;
  try {
    const [oldest] = segmentsIn(directory);
    if (oldest === undefined) return "";
    fd = openSync(join(directory, oldest), "r");
    const head = Buffer.alloc(HEAD);
    return head.toString("utf8", 0, readSync(fd, head, 0, HEAD, 0));
  } catch {
    // What reads the whole file reports this error.
    return "";
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
