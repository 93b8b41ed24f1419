/**
 * Reads the event file of a session that runs, has ended or was killed. Lines that are not events are skipped and
 * counted: a killed supervisor may leave an incomplete last line. A file that another version wrote is refused.
 */
import { join } from "node:path";
import { readPrivateFile } from "../files/index.ts";
import { type Bytes, NO_FIGURES, type RecordedEvent } from "../protocol/index.ts";
import { apply } from "./apply.ts";
import { assertReadable } from "./format.ts";
import { segmentsIn } from "./segments.ts";
import { emptyState, type SessionSnapshot, type SessionState, stateOf } from "./state.ts";

/** Larger than any segment, even with the highest `eventFileLimit`. */
const MOST_BYTES: Bytes = 2 ** 29;

/** The content of one line. */
export type FileRecord = RecordedEvent | { readonly type: "snapshot"; readonly state: SessionSnapshot };

interface ReadSession {
  readonly state: SessionState;
  /** Lines that could not be read. */
  readonly torn: number;
  /** Events that the file still contains one by one. Earlier events exist only in the file's first snapshot. */
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

/** Every line in order; null for a line that could not be read. */
export function* readRecords(directory: string): Iterable<FileRecord | null> {
  assertReadable(directory);
  for (const name of segmentsIn(directory)) {
    const text = readPrivateFile(join(directory, name), MOST_BYTES);
    for (const line of text?.split("\n") ?? []) if (line !== "") yield recordOf(line);
  }
}

function recordOf(line: string): FileRecord | null {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? withAllFigures(value) : null;
  } catch {
    return null;
  }
}

/** The file of an earlier version lacks figures of tasks that came later. Without zeros, their sums would be NaN. */
function withAllFigures(record: FileRecord): FileRecord {
  if (record.type === "taskDone") return { ...NO_FIGURES, ...record };
  if (record.type !== "snapshot") return record;
  const jobs = record.state.jobs.map((job) => ({
    ...job,
    operators: job.operators.map((totals) => ({ ...NO_FIGURES, ...totals })),
  }));
  return { ...record, state: { ...record.state, jobs } };
}

function isRecord(value: unknown): value is FileRecord {
  return (
    typeof value === "object" && value !== null && "type" in value && "at" in value && typeof value.at === "number"
  );
}
