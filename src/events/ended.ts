/** Tells from the end of the event file whether a session was closed: its last event says so. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Bytes } from "../protocol/index.ts";
import { EVENTS_FILE } from "./segments.ts";

/** More than the last event takes. */
const TAIL: Bytes = 4_096;

/** Whether there is an event file. */
export function hasEvents(directory: string): boolean {
  return existsSync(join(directory, EVENTS_FILE));
}

export function hasEnded(directory: string): boolean {
  let fd: number;
  try {
    fd = openSync(join(directory, EVENTS_FILE), "r");
  } catch {
    return false;
  }
  try {
    const { size } = fstatSync(fd);
    const tail = Buffer.alloc(Math.min(TAIL, size));
    readSync(fd, tail, 0, tail.length, size - tail.length);
    const last = tail.toString("utf8").trimEnd().split("\n").at(-1) ?? "";
    return last.includes('"type":"sessionEnded"');
  } finally {
    closeSync(fd);
  }
}
