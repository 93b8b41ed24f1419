/**
 * Reads the event file of a session, be it running, closed or killed. A line that is no event, as the last one of a
 * killed supervisor may be, is passed over and counted.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readPrivateFile } from "../files/index.ts";
import type { Bytes, RecordedEvent } from "../protocol/index.ts";
import { apply } from "./apply.ts";
import { segmentNumber } from "./segments.ts";
import { emptyState, type SessionSnapshot, type SessionState, stateOf } from "./state.ts";

/** A segment of a file of the largest size that can be set is smaller. */
const MOST_BYTES: Bytes = 2 ** 29;

/** What a line of the file is. */
export type FileRecord = RecordedEvent | { readonly type: "snapshot"; readonly state: SessionSnapshot };

export interface ReadSession {
  readonly state: SessionState;
  /** Lines that are no events. */
  readonly torn: number;
  /** The events that the file has one by one; those before are in its first snapshot alone. */
  readonly events: number;
}

export function readSession(directory: string): ReadSession {
  let state = emptyState();
  let [torn, events] = [0, 0];
  for (const record of readRecords(directory)) {
    if (record === null) torn += 1;
    else if (record.type === "snapshot") state = stateOf(record.state);
    else {
      events += 1;
      apply(state, record);
    }
  }
  return { state, torn, events };
}

/** Every line in order; null: one that is no event. */
export function* readRecords(directory: string): Iterable<FileRecord | null> {
  for (const name of segmentsIn(directory)) {
    const text = readPrivateFile(join(directory, name), MOST_BYTES);
    for (const line of text?.split("\n") ?? []) if (line !== "") yield recordOf(line);
  }
}

function segmentsIn(directory: string): readonly string[] {
  return readdirSync(directory)
    .flatMap((name) => {
      const number = segmentNumber(name);
      return number === null ? [] : [{ name, number }];
    })
    .sort((a, b) => a.number - b.number)
    .map(({ name }) => name);
}

function recordOf(line: string): FileRecord | null {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is FileRecord {
  return (
    typeof value === "object" && value !== null && "type" in value && "at" in value && typeof value.at === "number"
  );
}
