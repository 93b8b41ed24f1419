/**
 * Takes the events of a session as they come and passes them on in batches: to the session's file, to observers, and to
 * the reducer, whose state the snapshots and the figures of jobs are made of. An event costs a push here. The rest is
 * done a few times a second, and after whatever the batch interrupted, or when somebody asks for the state: figures
 * have to be exact.
 */
import type { Bytes, Milliseconds, RecordedEvent } from "../protocol/index.ts";
import { apply } from "./apply.ts";
import { Segments } from "./segments.ts";
import { emptyState, type SessionState, snapshotOf } from "./state.ts";

/** A killed supervisor loses at most the events of this time. */
const BATCH: Milliseconds = 250;

/** Gets each batch as one JSON text per event. */
export interface BatchReader {
  batch(events: readonly string[]): void;
}

export class EventRecorder {
  readonly #state: SessionState = emptyState();
  readonly #segments: Segments;
  readonly #readers = new Set<BatchReader>();
  #events: RecordedEvent[] = [];
  /** How many of them the state includes. */
  #applied = 0;
  #timer: NodeJS.Timeout | null = null;

  /** `now` must never go back. */
  constructor(directory: string, limit: Bytes, now: () => Milliseconds = () => performance.now()) {
    this.#segments = new Segments(directory, limit, now);
  }

  record(events: readonly RecordedEvent[]): void {
    for (const event of events) this.#events.push(event);
    if (events.length > 0) this.#timer ??= setTimeout(() => this.flush(), BATCH).unref();
  }

  /** After all events recorded so far, also those that readers get later. */
  get state(): SessionState {
    this.#applyAll();
    return this.#state;
  }

  #applyAll(): void {
    for (const event of this.#applied === 0 ? this.#events : this.#events.slice(this.#applied)) {
      apply(this.#state, event);
    }
    this.#applied = this.#events.length;
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#events.length === 0) return;
    this.#applyAll();
    const lines = this.#events.map((event) => JSON.stringify(event));
    this.#events = [];
    this.#applied = 0;
    this.#segments.append(`${lines.join("\n")}\n`, () => `${this.#snapshotLine()}\n`);
    for (const reader of this.#readers) reader.batch(lines);
  }

  /** Returns the present state as JSON. The reader gets all later events. */
  join(reader: BatchReader): string {
    const snapshot = this.snapshot();
    this.#readers.add(reader);
    return snapshot;
  }

  leave(reader: BatchReader): void {
    this.#readers.delete(reader);
  }

  /** The present state as JSON, once every reader has the events before it. */
  snapshot(): string {
    this.flush();
    return JSON.stringify(snapshotOf(this.#state));
  }

  /** Resolves once everything flushed is in the file, or has failed to be written. */
  written(): Promise<void> {
    return this.#segments.written();
  }

  /** Resolves once everything recorded is in the file. */
  async close(): Promise<void> {
    this.flush();
    await this.written();
  }

  #snapshotLine(): string {
    return `{"type":"snapshot","at":${this.#state.at},"state":${this.snapshot()}}`;
  }
}
