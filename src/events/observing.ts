/**
 * An observer of a running session: it has the session's token, gets a snapshot, then the events from there on. What it
 * does not read in time is dropped: it is told how much, and gets a new snapshot to go on from. Nobody ever waits for
 * it.
 */
import type { Bytes, RecordedEvent, Wire } from "../protocol/index.ts";
import type { BatchReader, EventRecorder } from "./recorder.ts";
import type { SessionSnapshot } from "./state.ts";

export type ToObserver =
  /** `dropped`: events since the last message that the observer did not get. */
  | { readonly type: "snapshot"; readonly dropped: number; readonly state: SessionSnapshot }
  | { readonly type: "events"; readonly events: readonly RecordedEvent[] };

export type ObserverMessage = { readonly type: "observe"; readonly token: string };

/** Bytes that may wait for an observer to read them. */
const MOST_UNREAD: Bytes = 4 * 2 ** 20;

/** Characters: a session with a million blocks. More would be over the limit of a message. */
const MOST_SNAPSHOT = 200 * 2 ** 20;

export class Observer implements BatchReader {
  #dropped = 0;

  constructor(
    private readonly wire: Wire<ObserverMessage, ToObserver>,
    private readonly recorder: EventRecorder,
  ) {
    this.#sendSnapshot(recorder.join(this));
    // It has nothing more to say; but only who reads learns that the other end has closed.
    wire.onMessage(() => {});
    wire.onRead(() => this.#catchUp());
    wire.onClose(() => recorder.leave(this));
  }

  batch(events: readonly string[]): void {
    if (this.#dropped > 0 || this.wire.unread > MOST_UNREAD) this.#dropped += events.length;
    else this.wire.sendText(`{"type":"events","events":[${events.join(",")}]}`);
  }

  /** It has read everything: what was dropped meanwhile is in the next snapshot. */
  #catchUp(): void {
    if (this.#dropped > 0) this.#sendSnapshot(this.recorder.snapshot());
  }

  #sendSnapshot(snapshot: string): void {
    if (snapshot.length > MOST_SNAPSHOT) {
      process.stderr.write(`An observer is refused: a snapshot has ${snapshot.length} characters.\n`);
      this.close();
      return;
    }
    this.wire.sendText(`{"type":"snapshot","dropped":${this.#dropped},"state":${snapshot}}`);
    this.#dropped = 0;
  }

  /** The session ends: what can be sent at once is, and nobody waits for the rest. */
  close(): void {
    this.recorder.leave(this);
    if (this.wire.unread > 0) this.wire.destroy();
    else this.wire.close();
  }
}
