/**
 * The event file of a session, in segments. `events.jsonl` is being written; `events.<n>.jsonl` came before it. Every
 * segment but the first begins with a snapshot of everything before it. So the oldest segment can be removed: the next
 * snapshot contains what its events led to. Segments are written in batches, in order, in the thread pool. A failing
 * disk does not stop the session.
 */
import { existsSync, readdirSync } from "node:fs";
import { appendFile, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../files/index.ts";
import type { Bytes, Milliseconds } from "../protocol/index.ts";

export const EVENTS_FILE = "events.jsonl";

/** Share of the limit for one segment. The newest segment is written while the others are kept. */
const SEGMENT = 1 / 8;
/** Characters that may wait for a slow disk. What comes after that is missing from the file. */
const MOST_WAITING = 32 * 2 ** 20;

/** A segment with younger events is kept, even if the segments together exceed the limit. */
const KEPT_WHOLE: Milliseconds = 60_000;

interface Kept {
  readonly bytes: Bytes;
  /** When the last event of the segment was written. */
  readonly until: Milliseconds;
}

type Step = { readonly kind: "append"; readonly text: string } | { readonly kind: "rotate" };

export class Segments {
  readonly #directory: string;
  readonly #limit: Bytes;
  readonly #steps: Step[] = [];
  #waiting = 0;
  /** The earlier segments, oldest first, and the number of the oldest. */
  readonly #before: Kept[] = [];
  #first = 1;
  #written: Bytes = 0;
  /** Bytes given to the present segment, and the most that it may get. */
  #given: Bytes = 0;
  #room: Bytes;
  /** A segment may exceed its room by one batch, because it is full only after the batch that went beyond it. */
  #largestBatch: Bytes = 0;
  /** Something is missing on disk, so the next segment must begin with a snapshot. */
  #hasGap = false;
  #reported: string | undefined;
  /** Returns a snapshot of the state after all lines given so far. */
  #snapshot: () => string = () => "";
  #working: Promise<void> | null = null;

  /** `now` must never go back. */
  constructor(
    directory: string,
    limit: Bytes,
    private readonly now: () => Milliseconds,
  ) {
    this.#directory = directory;
    this.#limit = limit;
    this.#room = limit * SEGMENT;
  }

  /** `snapshot` returns the state after these lines. */
  append(lines: string, snapshot: () => string): void {
    this.#snapshot = snapshot;
    this.#largestBatch = Math.max(this.#largestBatch, lines.length);
    if (this.#waiting > MOST_WAITING) this.#hasGap = true;
    if (this.#hasGap) {
      if (this.#waiting === 0) this.#begin(snapshot());
    } else {
      this.#add(lines);
      if (this.#given > this.#room) this.#begin(snapshot());
    }
    this.#working ??= this.#work();
  }

  /** Resolves once everything given is on disk, or has failed to be written. */
  async written(): Promise<void> {
    while (this.#working !== null) await this.#working;
  }

  #begin(snapshot: string): void {
    this.#hasGap = false;
    this.#steps.push({ kind: "rotate" });
    this.#given = 0;
    this.#add(snapshot);
    // A segment has as much room for events as its snapshot takes, at least.
    this.#room = this.#given + Math.max(this.#limit * SEGMENT - this.#given, this.#given);
  }

  #add(text: string): void {
    this.#steps.push({ kind: "append", text });
    this.#waiting += text.length;
    this.#given += text.length;
  }

  async #work(): Promise<void> {
    for (;;) {
      const step = this.#steps.shift();
      if (step === undefined) break;
      try {
        if (step.kind === "rotate") await this.#rotate();
        else await this.#write(step.text);
      } catch (error) {
        this.#hasGap = true;
        this.#report(error);
      }
      if (step.kind === "append") this.#waiting -= step.text.length;
    }
    this.#working = null;
  }

  /** Logs an error to the supervisor's log: the same error once, not with every batch. */
  #report(error: unknown): void {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === this.#reported) return;
    this.#reported = code;
    process.stderr.write(`The event file cannot be written: ${message}\n`);
  }

  async #write(text: string): Promise<void> {
    const path = join(this.#directory, EVENTS_FILE);
    if (this.#written > 0 && !existsSync(path)) {
      // The logs were cleared away. A new file begins with a snapshot that includes these lines.
      this.#written = 0;
      this.#begin(this.#snapshot());
      return;
    }
    makeDirectory(this.#directory, 0o700);
    await appendFile(path, text, { mode: 0o600 });
    this.#written += Buffer.byteLength(text);
  }

  async #rotate(): Promise<void> {
    // After a gap the file may be missing: the logs were cleared away, or could never be written.
    if (!existsSync(join(this.#directory, EVENTS_FILE))) return;
    const number = this.#first + this.#before.length;
    await rename(join(this.#directory, EVENTS_FILE), join(this.#directory, segmentName(number)));
    const now = this.now();
    this.#before.push({ bytes: this.#written, until: now });
    this.#written = 0;
    let kept = this.#before.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { bytes, until } of [...this.#before]) {
      if (kept + this.#room + this.#largestBatch <= this.#limit || now - until < KEPT_WHOLE) return;
      await unlink(join(this.#directory, segmentName(this.#first)));
      this.#before.shift();
      this.#first += 1;
      kept -= bytes;
    }
  }
}

function segmentName(number: number): string {
  return `events.${number}.jsonl`;
}

/** The number of a segment from its file name; null for other files. The segment being written comes last. */
function segmentNumber(name: string): number | null {
  if (name === EVENTS_FILE) return Number.POSITIVE_INFINITY;
  const number = /^events\.(\d+)\.jsonl$/.exec(name)?.[1];
  return number === undefined ? null : Number(number);
}

/** The files of all segments, oldest first. */
export function segmentsIn(directory: string): readonly string[] {
  return readdirSync(directory)
    .flatMap((name) => {
      const number = segmentNumber(name);
      return number === null ? [] : [{ name, number }];
    })
    .sort((a, b) => a.number - b.number)
    .map(({ name }) => name);
}
