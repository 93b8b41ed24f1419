/**
 * Waits until the event file of a running session contains everything that has happened so far. The session writes its
 * file in batches, with a short delay.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Bytes, Milliseconds } from "../protocol/index.ts";
import { observe } from "./observe.ts";
import { EVENTS_FILE } from "./segments.ts";

/** Longer than a slow disk takes. After that, the reader does without the missing events. */
const PATIENCE: Milliseconds = 5_000;
const LOOK: Milliseconds = 10;
/** Enough for the last line, unless that line is a snapshot. */
const TAIL: Bytes = 256 << 10;

/**
 * `logs` is the directory of the event file, `directory` the one of the socket. A session that ends meanwhile still
 * completes its file.
 */
export async function caughtUp(logs: string, directory: string, token: string): Promise<void> {
  const now = await timeOf(directory, token);
  for (let waited = 0; now !== null && waited < PATIENCE && lastTime(logs) < now; waited += LOOK) {
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
}

/** The time of the last event according to the session; null when the session no longer answers. */
function timeOf(directory: string, token: string): Promise<Milliseconds | null> {
  return new Promise((resolve) => {
    const watching = observe(directory, token, {
      changed() {
        resolve(watching.state.at);
        watching.close();
      },
      closed: () => resolve(null),
    });
  });
}

/** The time of the last complete line. */
function lastTime(logs: string): Milliseconds {
  const lines = tailOf(join(logs, EVENTS_FILE)).split("\n");
  try {
    const record: unknown = JSON.parse(lines.at(-2) ?? "");
    if (typeof record !== "object" || record === null || !("at" in record)) return 0;
    return typeof record.at === "number" ? record.at : 0;
  } catch {
    // The line is longer than the tail.
    return 0;
  }
}

function tailOf(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    // The file is being rotated, or the user removed it.
    return "";
  }
  try {
    const { size } = fstatSync(fd);
    const tail = Buffer.alloc(Math.min(TAIL, size));
    return tail.toString("utf8", 0, readSync(fd, tail, 0, tail.length, size - tail.length));
  } finally {
    closeSync(fd);
  }
}
