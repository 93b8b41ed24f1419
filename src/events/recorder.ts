/**
 * Takes the events of a session as they come and passes them on in batches: to the session's file, to observers, and to
 * the reducer, whose state the snapshots are made of. An event costs a push here; the rest is done a few times a
 * second, and after whatever the batch interrupted.
 */
import type { Bytes, Milliseconds, RecordedEvent } from "../protocol/index.ts";
import { apply } from "./apply.ts";
import { Segments } from "./segments.ts";
import { emptyState, type SessionState, snapshotOf } from "./state.ts";

/** A killed supervisor loses what it had not written for so long. */
const BATCH: Milliseconds = 250;

/** Gets each batch as texts of JSON, one an event. */
export interface BatchReader {
  batch(events: readonly string[]): void;
}

export class EventRecorder {
  readonly #state: SessionState = emptyState();
  readonly #segments: Segments;
  readonly #readers = new Set<BatchReader>();
  #events: RecordedEvent[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** `now`: a clock that never goes back. */
  constructor(directory: string, limit: Bytes, now: () => Milliseconds = () => performance.now()) {
    this.#segments = new Segments(directory, limit, now);
  }

  record(events: readonly RecordedEvent[]): void {
    for (const event of events) this.#events.push(event);
    if (events.length > 0) this.#timer ??= setTimeout(() => this.flush(), BATCH).unref();
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#events.length === 0) return;
    const events = this.#events;
    this.#events = [];
    const lines: string[] = [];
    for (const event of events) {
      apply(this.#state, event);
      lines.push(JSON.stringify(event));
    }
    this.#segments.append(`${lines.join("\n")}\n`, () => `${this.#snapshotLine()}\n`);
    for (const reader of this.#readers) reader.batch(lines);
  }

  /** The state of this moment, as JSON; what comes later, the reader gets. */
  join(reader: BatchReader): string {
    this.flush();
    this.#readers.add(reader);
    return this.snapshot();
  }

  leave(reader: BatchReader): void {
    this.#readers.delete(reader);
  }

  /** Of all that was passed on, as JSON. */
  snapshot(): string {
    return JSON.stringify(snapshotOf(this.#state));
  }

  /** Everything that was flushed is in the file, or cannot be. */
  written(): Promise<void> {
    return this.#segments.written();
  }

  /** Everything that was recorded is in the file. */
  async close(): Promise<void> {
    this.flush();
    await this.written();
  }

  #snapshotLine(): string {
    return `{"type":"snapshot","at":${this.#state.at},"state":${this.snapshot()}}`;
  }
}
