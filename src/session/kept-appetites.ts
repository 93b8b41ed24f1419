/**
 * What tasks took in earlier programs, in a file of the state directory: `appetites.json`, for this user alone. A
 * program reads it once, and writes what it has learned when it ends (and once a second while it learns). It is written
 * all or nothing. What other programs have written meanwhile stays: only of two writes at the same moment is one lost,
 * which costs a look at a first batch.
 */
import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readPrivateFile } from "../files/index.ts";
import type { Bytes, Milliseconds } from "../protocol/index.ts";
import { messageOf } from "../realm/index.ts";

const FILE = "appetites.json";
const VERSION = 1;
const DAY: Milliseconds = 86_400_000;
/** How long an entry stays that nobody has used. */
const FORGOTTEN_AFTER: Milliseconds = 30 * DAY;
/** The ones used last. An entry has 100 bytes. */
const MOST_ENTRIES = 1_000;
const MOST_BYTES: Bytes = 2 ** 18;
const MOST: Bytes = 2 ** 50;
/** Smaller differences are not worth a write. */
const NOTABLE = 0.25;
const SETTLES: Milliseconds = 1_000;

interface Entry {
  readonly bytes: Bytes;
  /** When it was last used or learned, to a day. */
  readonly at: Milliseconds;
}

type Entries = ReadonlyMap<string, Entry>;

/** The part of the world that tests replace. */
interface Surroundings {
  /** Where the file is, or is to be; asked for only when something is read or written. */
  readonly root: () => string;
  readonly now: () => Milliseconds;
  readonly notice: (text: string) => void;
}

export class KeptAppetites {
  readonly #around: Surroundings;
  #known: Map<string, Entry> | null = null;
  /** What this program has learned since its last write. */
  readonly #learned = new Map<string, Entry>();
  #timer: NodeJS.Timeout | null = null;
  #hasSaid = false;
  readonly #atEnd = () => this.save();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** What a task took when these functions last ran; null: unknown. */
  of(key: string): Bytes | null {
    const entry = this.#read().get(key);
    if (entry === undefined) return null;
    if (this.#around.now() - entry.at > DAY) this.#learn(key, entry.bytes);
    return entry.bytes;
  }

  keep(key: string, bytes: Bytes): void {
    const entry = this.#read().get(key);
    if (entry !== undefined && Math.abs(entry.bytes - bytes) <= NOTABLE * entry.bytes) return;
    this.#learn(key, bytes);
  }

  /** Writes what was learned. Never throws: without the file everything works, and learns again. */
  save(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    process.off("exit", this.#atEnd);
    if (this.#learned.size === 0) return;
    const { root, now } = this.#around;
    try {
      const file = join(root(), FILE);
      const all = new Map([...this.#load(file), ...this.#learned]);
      this.#learned.clear();
      const entries = Object.fromEntries(lastUsed(all, now()));
      const partial = `${file}.${process.pid}-${randomBytes(3).toString("hex")}.new`;
      try {
        writeFileSync(partial, JSON.stringify({ version: VERSION, entries }), { mode: 0o600, flag: "wx" });
        renameSync(partial, file);
      } catch (error) {
        rmSync(partial, { force: true });
        throw error;
      }
    } catch (error) {
      this.#say(`What functions need is not remembered: ${messageOf(error)}`);
    }
  }

  #learn(key: string, bytes: Bytes): void {
    const entry = { bytes: Math.round(bytes), at: this.#around.now() };
    this.#read().set(key, entry);
    this.#learned.set(key, entry);
    if (this.#timer !== null) return;
    this.#timer = setTimeout(this.#atEnd, SETTLES).unref();
    process.once("exit", this.#atEnd);
  }

  #read(): Map<string, Entry> {
    this.#known ??= new Map(this.#load(join(this.#around.root(), FILE)));
    return this.#known;
  }

  #load(file: string): Entries {
    const text = readPrivateFile(file, MOST_BYTES);
    const entries = text === null ? null : entriesOf(text, this.#around.now());
    if (entries !== null) return entries;
    if (text !== null) this.#say(`${file} is damaged and is not used; it is written anew.`);
    else if (existsSync(file) || lstatSync(file, { throwIfNoEntry: false }) !== undefined) {
      this.#say(`${file} is not a small file that only you can have written, and is not used; it is written anew.`);
    }
    return new Map();
  }

  #say(text: string): void {
    if (!this.#hasSaid) this.#around.notice(text);
    this.#hasSaid = true;
  }
}

/** Null: this is not what a program of this version has written. */
function entriesOf(text: string, now: Milliseconds): Entries | null {
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(told) || !isRecord(told.entries)) return null;
  const found = new Map<string, Entry>();
  // A later version may know more of an entry: nothing of it is used, and the file stays until something is learned.
  if (told.version !== VERSION) return found;
  for (const [key, entry] of Object.entries(told.entries)) {
    if (!isRecord(entry)) return null;
    const { bytes, at } = entry;
    if (!isWithin(bytes, MOST) || !isWithin(at, now + DAY)) return null;
    if (now - at <= FORGOTTEN_AFTER) found.set(key, { bytes, at });
  }
  return found;
}

function lastUsed(entries: Entries, now: Milliseconds): readonly (readonly [string, Entry])[] {
  const living = [...entries].filter(([, { at }]) => now - at <= FORGOTTEN_AFTER);
  return living.sort(([, a], [, b]) => b.at - a.at).slice(0, MOST_ENTRIES);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWithin(value: unknown, most: number): value is number {
  return typeof value === "number" && value >= 0 && value <= most;
}
