/**
 * The session's end of an observer's connection. An observer shows the session's token, gets a snapshot, and then all
 * later events. Events that it does not read in time are dropped: it gets a new snapshot with their number and
 * continues from there. The session never waits for an observer.
 */
import { toWire, type WireError } from "../errors/index.ts";
import type { Bytes, RecordedEvent, Wire, WorkerId } from "../protocol/index.ts";
import type { BatchReader, EventRecorder } from "./recorder.ts";
import type { SessionSnapshot } from "./state.ts";

export type ToObserver =
  /** `dropped`: events since the last message that the observer did not get. */
  | { readonly type: "snapshot"; readonly dropped: number; readonly state: SessionSnapshot }
  | { readonly type: "events"; readonly events: readonly RecordedEvent[] }
  /** `file` lies in the session's profile directory. Null: there is no file, and `error` says why. */
  | {
      readonly type: "profiled";
      readonly request: number;
      readonly file: string | null;
      readonly error: WireError | null;
    };

export type ObserverMessage =
  | { readonly type: "observe"; readonly token: string }
  /** A request to profile a worker for the given time. */
  | { readonly type: "profile"; readonly request: number; readonly worker: WorkerId; readonly seconds: number };

/** Makes a heap profile of a worker. Resolves to the file's name. */
type ProfileMaker = (worker: WorkerId, seconds: number) => Promise<string>;

/** Bytes that may wait for an observer to read them. */
const MOST_UNREAD: Bytes = 4 * 2 ** 20;

/** Characters; enough for a session with a million blocks. A longer snapshot would exceed the limit of a message. */
const MOST_SNAPSHOT = 200 * 2 ** 20;

export class Observer implements BatchReader {
  #dropped = 0;

  constructor(
    private readonly wire: Wire<ObserverMessage, ToObserver>,
    private readonly recorder: EventRecorder,
    private readonly profile: ProfileMaker,
  ) {
    this.#sendSnapshot(recorder.join(this));
    wire.onMessage((message) => {
      if (message.type === "profile") void this.#profile(message);
    });
    wire.onRead(() => this.#catchUp());
    wire.onClose(() => recorder.leave(this));
  }

  batch(events: readonly string[]): void {
    if (this.#dropped > 0 || this.wire.unread > MOST_UNREAD) this.#dropped += events.length;
    else this.wire.sendText(`{"type":"events","events":[${events.join(",")}]}`);
  }

  async #profile({ request, worker, seconds }: Extract<ObserverMessage, { type: "profile" }>): Promise<void> {
    try {
      const file = await this.profile(worker, seconds);
      this.wire.send({ type: "profiled", request, file, error: null });
    } catch (error) {
      this.wire.send({ type: "profiled", request, file: null, error: toWire(error) });
    }
  }

  /** The observer has read everything. The next snapshot contains what was dropped. */
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

  /** The session ends: sends what can be sent at once, and waits for nothing else. */
  close(): void {
    this.recorder.leave(this);
    if (this.wire.unread > 0) this.wire.destroy();
    else this.wire.close();
  }
}
