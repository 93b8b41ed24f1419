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

export class Observer implements BatchReader {
  #dropped = 0;

  constructor(
    private readonly wire: Wire<ObserverMessage, ToObserver>,
    private readonly recorder: EventRecorder,
  ) {
    this.#sendSnapshot(recorder.join(this));
    // It has nothing more to say; but only who reads learns that the other end has closed.
    wire.onMessage(() => {});
    wire.onClose(() => recorder.leave(this));
  }

  batch(events: readonly string[]): void {
    if (this.wire.unread > (this.#dropped > 0 ? 0 : MOST_UNREAD)) {
      this.#dropped += events.length;
      return;
    }
    if (this.#dropped > 0) {
      this.#dropped += events.length;
      this.#sendSnapshot(this.recorder.snapshot());
    } else this.wire.sendText(`{"type":"events","events":[${events.join(",")}]}`);
  }

  #sendSnapshot(snapshot: string): void {
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
