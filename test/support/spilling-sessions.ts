/** Sessions that are so small that they spill, and the files that they have on disk meanwhile. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Dataset, Session, SessionOptions } from "spillway";
import { afterEach, beforeEach, onTestFinished, vi } from "vitest";
import { type TestSessions, testSessions } from "./sessions.ts";

export const KIB = 1024;

/** The smallest possible store for one worker, and blocks of two pages. */
export const SMALL: SessionOptions = {
  workers: 1,
  objectStoreMemory: 256 * KIB,
  targetMaxBlockSize: 8 * KIB,
  targetMinBlockSize: 4 * KIB,
};

export interface KilobyteRow {
  id: number;
  text: string;
}

/** Rows of a kilobyte whose content can be checked. */
export function kilobyteRows(s: Session, rows: number, tasks = 8): Dataset<KilobyteRow> {
  return s.range(rows, { overrideNumBlocks: tasks }).map((row) => {
    return { id: row.id, text: `${row.id}:`.padEnd(1000, String(row.id % 10)) };
  });
}

/** Throws if a row has changed, is missing or is there twice. */
export function checkRows(rows: readonly KilobyteRow[], count: number): void {
  const seen = new Set<number>();
  for (const { id, text } of rows) {
    if (seen.has(id)) throw new Error(`row ${id} came twice`);
    if (text !== `${id}:`.padEnd(1000, String(id % 10))) throw new Error(`row ${id} is ${text.slice(0, 20)}…`);
    seen.add(id);
  }
  if (seen.size !== count) throw new Error(`${seen.size} rows of ${count}`);
}

/** Paths of all spill files under a directory. */
export function spillFilesIn(directory: string): string[] {
  return entriesIn(directory).filter((path) => /spill-[0-9a-f]+-\d+\.(arrows|blocks)$/.test(path));
}

export function spilledBytesIn(directory: string): number {
  return spillFilesIn(directory).reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
}

function entriesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    // The directory does not exist yet, or was removed while it was read.
    return [];
  }
}

/** Resolves when the condition is true. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitFor(
    async () => {
      if (!(await holds())) throw new Error("It did not come to that.");
    },
    { timeout: 30_000, interval: 10 },
  );
}

/** Captures what sessions print on stderr, from now on. */
export function captureStderr(): { readonly lines: string[]; end(): void } {
  const lines: string[] = [];
  const spy = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    lines.push(String(text).trimEnd());
    return true;
  });
  return { lines, end: () => spy.mockRestore() };
}

export interface SpillingSessions extends TestSessions {
  /** What sessions have printed on stderr in this test. */
  readonly stderr: { readonly lines: string[] };
}

/** Sessions that end with their test. Call once at the top of a test file. */
export function spillingSessions(name: string): SpillingSessions {
  const sessions = testSessions(name);
  let captured: ReturnType<typeof captureStderr> | null = null;
  beforeEach(() => {
    captured = captureStderr();
  });
  afterEach(() => captured?.end());
  return {
    ...sessions,
    stderr: {
      get lines() {
        return captured?.lines ?? [];
      },
    },
    open(options) {
      const s = sessions.open(options);
      onTestFinished(() => s.close());
      return s;
    },
  };
}

/** As a consumer sees them, one after the other. */
export async function rowsOf<R extends KilobyteRow>(ds: Dataset<R>): Promise<R[]> {
  const rows: R[] = [];
  for await (const row of ds.iterRows()) rows.push(row);
  return rows;
}
