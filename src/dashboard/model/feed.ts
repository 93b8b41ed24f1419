/**
 * Feeds a session into a model. An ended session comes from its event file alone. For a running session, the event file
 * gives the past up to the moment of the first snapshot, and the observer's stream gives the rest. A long file is read
 * in slices, and pages are served in between.
 */
import { toWire } from "../../errors/index.ts";
import {
  caughtUp,
  type FileRecord,
  type Following,
  follow,
  readRecords,
  type SessionState,
  stateOf,
} from "../../events/index.ts";
import type { Milliseconds, RecordedEvent } from "../../protocol/index.ts";
import type { SessionModel } from "./model.ts";

/** Longest time to read the file before pages are served again. */
const SLICE: Milliseconds = 15;

export interface LiveSession {
  /** The directory with the session's logs and event file. */
  readonly logs: string;
  readonly socketDirectory: string;
  readonly token: string;
}

/** Feeds a session that has ended or was killed. */
export async function feedFromFile(model: SessionModel, logs: string): Promise<void> {
  await replay(model, readRecords(logs), Number.POSITIVE_INFINITY);
  model.end();
}

/** Calls `ended` when no more events can arrive. */
export function feedLive(model: SessionModel, session: LiveSession, ended: () => void): Following {
  /** Changes that arrived while the file was being read; null once it has been read. */
  let waiting: (() => void)[] | null = null;
  let isFirst = true;
  const inOrder = (change: () => void) => (waiting === null ? change() : void waiting.push(change));
  const readPast = async (present: SessionState): Promise<void> => {
    waiting = [];
    model.begin(present);
    // The session writes its event file with a short delay, so this waits for the file. If the disk hangs, the model
    // lacks the last moments before the snapshot; what follows is complete.
    try {
      await caughtUp(session.logs, session.socketDirectory, session.token);
      await replay(model, readRecords(session.logs), present.at);
    } catch (error) {
      process.stderr.write(`The past of the session cannot be read: ${toWire(error).message}\n`);
    }
    model.restart(present, 0);
    const late = waiting;
    waiting = null;
    for (const change of late) change();
  };
  return follow(session.socketDirectory, session.token, {
    snapshot(state, dropped) {
      if (isFirst) void readPast(state);
      else inOrder(() => model.restart(state, dropped));
      isFirst = false;
    },
    events: (events) =>
      inOrder(() => {
        for (const event of events) model.take(event);
      }),
    closed: () =>
      inOrder(() => {
        model.end();
        ended();
      }),
  });
}

async function replay(model: SessionModel, records: Iterable<FileRecord | null>, until: Milliseconds): Promise<void> {
  let since = performance.now();
  for (const record of records) {
    if (record === null) model.missed += 1;
    else if (record.type === "snapshot") model.restart(stateOf(record.state), 0);
    else if (!takeUntil(model, record, until)) return;
    if (performance.now() - since < SLICE) continue;
    await new Promise(setImmediate);
    since = performance.now();
  }
}

function takeUntil(model: SessionModel, event: RecordedEvent, until: Milliseconds): boolean {
  if (event.at > until) return false;
  model.take(event);
  return true;
}
