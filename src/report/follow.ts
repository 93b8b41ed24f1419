/** Follows the events of a session for a drawing: its state, the spans of its tasks, each spill and each restore. */
import {
  apply,
  emptyState,
  type FileRecord,
  Lanes,
  type SessionState,
  stateOf,
  type TaskSpan,
  TaskSpans,
} from "../events/index.ts";
import type { BlockId, Bytes, Milliseconds, RecordedEvent } from "../protocol/index.ts";

export interface DiskSpan {
  readonly kind: "spill" | "restore";
  readonly block: BlockId;
  readonly bytes: Bytes;
  /** Row in the drawing: spills and restores that overlap get different lanes. */
  readonly lane: number;
  readonly from: Milliseconds;
  readonly to: Milliseconds;
}

interface SpanReader {
  task?(span: TaskSpan): void;
  disk?(span: DiskSpan): void;
}

interface OpenDisk {
  readonly kind: DiskSpan["kind"];
  readonly lane: number;
  readonly from: Milliseconds;
}

export class Follower {
  state: SessionState = emptyState();
  readonly lanes = new Lanes();
  readonly #reader: SpanReader;
  readonly #tasks: TaskSpans;
  readonly #disk = new Map<BlockId, OpenDisk>();
  readonly #diskLanes = new Numbers<BlockId>();

  constructor(reader: SpanReader) {
    this.#reader = reader;
    this.#tasks = new TaskSpans(this.lanes, (span) => reader.task?.(span));
  }

  take(record: FileRecord): void {
    if (record.type === "snapshot") {
      // One at the start of the oldest segment brings the state; later ones repeat what is known.
      this.state = stateOf(record.state);
      this.#tasks.goOnFrom(this.state);
      return;
    }
    this.#tasks.before(record, this.state);
    this.#before(record);
    apply(this.state, record);
  }

  /** Ends the spans that are still open at the time of the last event. */
  end(): void {
    this.#tasks.end(this.state.at);
    for (const block of [...this.#disk.keys()]) this.#endDisk(block, this.state.at);
  }

  /** Must see the event before it is applied to the state. */
  #before(event: RecordedEvent): void {
    switch (event.type) {
      case "block":
        if (event.to === "spilling") this.#beginDisk(event.block, "spill", event.at);
        else if (event.to === "restoring") this.#beginDisk(event.block, "restore", event.at);
        else this.#endDisk(event.block, event.at);
        return;
      case "blockFreed":
        this.#endDisk(event.block, event.at);
        return;
    }
  }

  #beginDisk(block: BlockId, kind: DiskSpan["kind"], from: Milliseconds): void {
    if (!this.#disk.has(block)) this.#disk.set(block, { kind, lane: this.#diskLanes.take(block), from });
  }

  #endDisk(block: BlockId, to: Milliseconds): void {
    const open = this.#disk.get(block);
    if (open === undefined) return;
    this.#disk.delete(block);
    this.#diskLanes.free(block);
    const { kind, lane, from } = open;
    this.#reader.disk?.({ kind, block, bytes: this.state.blocks.get(block)?.bytes ?? 0, lane, from, to });
  }
}

/** Gives each newcomer the lowest free number. */
export class Numbers<Key> {
  readonly #taken: (Key | undefined)[] = [];
  readonly #of = new Map<Key, number>();

  take(key: Key): number {
    const free = this.#taken.indexOf(undefined);
    const lane = free === -1 ? this.#taken.length : free;
    this.#taken[lane] = key;
    this.#of.set(key, lane);
    return lane;
  }

  free(key: Key): void {
    const lane = this.#of.get(key);
    if (lane !== undefined) this.#taken[lane] = undefined;
    this.#of.delete(key);
  }
}
