/**
 * The event file of a session, in segments: `events.jsonl` is the one that is written, `events.<n>.jsonl` those before
 * it. A segment that is not the first begins with a snapshot of everything before it, so the oldest one can go: what
 * its events came to is in the next one's snapshot. Written in batches, in order, in the thread pool; whatever goes
 * wrong with the disk, the session goes on.
 */
import { existsSync } from "node:fs";
import { appendFile, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../files/index.ts";
import type { Bytes, Milliseconds } from "../protocol/index.ts";

export const EVENTS_FILE = "events.jsonl";

/** Of the limit: one segment. The last of these may be written while so many others are kept. */
const SEGMENT = 1 / 8;
/** What may wait for a slow disk, in characters; what comes after it is lost to the file. */
const MOST_WAITING = 32 * 2 ** 20;

/** A segment with younger events stays, even where the segments together pass the limit. */
const KEPT_WHOLE: Milliseconds = 60_000;

interface Kept {
  readonly bytes: Bytes;
  /** When its last event was written. */
  readonly until: Milliseconds;
}

type Step = { readonly kind: "append"; readonly text: string } | { readonly kind: "rotate" };

export class Segments {
  readonly #directory: string;
  readonly #limit: Bytes;
  readonly #steps: Step[] = [];
  #waiting = 0;
  /** The segments before the present one, oldest first, and the number of the first of these. */
  readonly #before: Kept[] = [];
  #first = 1;
  #written: Bytes = 0;
  /** Bytes given to the present segment, and how many it may have. */
  #given: Bytes = 0;
  #room: Bytes;
  /** What is on disk is not all: a snapshot has to come before anything else. */
  #hasGap = false;
  #reported: string | undefined;
  /** Of the state after all lines that were given. */
  #snapshot: () => string = () => "";
  #working: Promise<void> | null = null;

  /** `now`: a clock that never goes back. */
  constructor(
    directory: string,
    limit: Bytes,
    private readonly now: () => Milliseconds,
  ) {
    this.#directory = directory;
    this.#limit = limit;
    this.#room = limit * SEGMENT;
  }

  /** `snapshot`: of the state after these lines. */
  append(lines: string, snapshot: () => string): void {
    this.#snapshot = snapshot;
    if (this.#waiting > MOST_WAITING) this.#hasGap = true;
    if (this.#hasGap) {
      if (this.#waiting === 0) this.#begin(snapshot());
    } else {
      this.#add(lines);
      if (this.#given > this.#room) this.#begin(snapshot());
    }
    this.#working ??= this.#work();
  }

  /** All that was given is on disk, or cannot be. */
  async written(): Promise<void> {
    while (this.#working !== null) await this.#working;
  }

  #begin(snapshot: string): void {
    this.#hasGap = false;
    this.#steps.push({ kind: "rotate" });
    this.#given = 0;
    this.#add(snapshot);
    // A snapshot of many blocks must not be all that there is in a segment.
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

  /** To the supervisor's own log; the same trouble once, not with every batch. */
  #report(error: unknown): void {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === this.#reported) return;
    this.#reported = code;
    process.stderr.write(`The event file cannot be written: ${message}\n`);
  }

  async #write(text: string): Promise<void> {
    const path = join(this.#directory, EVENTS_FILE);
    if (this.#written > 0 && !existsSync(path)) {
      // The logs were cleared away: a new file begins with a snapshot, which has these lines in it.
      this.#written = 0;
      this.#begin(this.#snapshot());
      return;
    }
    makeDirectory(this.#directory, 0o700);
    await appendFile(path, text, { mode: 0o600 });
    this.#written += Buffer.byteLength(text);
  }

  async #rotate(): Promise<void> {
    // After a gap there may be no file to set aside: the logs were cleared away, or never could be written.
    if (!existsSync(join(this.#directory, EVENTS_FILE))) return;
    const number = this.#first + this.#before.length;
    await rename(join(this.#directory, EVENTS_FILE), join(this.#directory, segmentName(number)));
    const now = this.now();
    this.#before.push({ bytes: this.#written, until: now });
    this.#written = 0;
    let kept = this.#before.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { bytes, until } of [...this.#before]) {
      if (kept + this.#room <= this.#limit || now - until < KEPT_WHOLE) return;
      await unlink(join(this.#directory, segmentName(this.#first)));
      this.#before.shift();
      this.#first += 1;
      kept -= bytes;
    }
  }
}

export function segmentName(number: number): string {
  return `events.${number}.jsonl`;
}

/** The number of a segment by its name; null: it is none. The one that is written is the last. */
export function segmentNumber(name: string): number | null {
  if (name === EVENTS_FILE) return Number.POSITIVE_INFINITY;
  const number = /^events\.(\d+)\.jsonl$/.exec(name)?.[1];
  return number === undefined ? null : Number(number);
}
