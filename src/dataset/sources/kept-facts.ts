/**
 * What the kernel said of files, kept for as long as they are as they were: a server asks the same files again and
 * again, and their schemas cost more than a small query. A file is known by path, size, time and inode; one that was
 * written to within the last second is always asked, because a second write may bear the same time. Bounded by what
 * questions and answers take.
 */
import type { InspectedRow } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import type { SourceFile } from "./files.ts";

/** Of all questions and answers of a session, as characters: about 30,000 files. */
const MOST_KEPT = 16 * 2 ** 20;
const ROW_LENGTH = 200;
const SETTLED_MS = 1000;

type Inspector = Pick<Engine, "inspect">;

interface Kept {
  /** Files and question to answer; what was used last is at the end. */
  readonly answers: Map<string, readonly InspectedRow[]>;
  length: number;
}

const kept = new WeakMap<Inspector, Kept>();

export async function inspectFiles(
  engine: Inspector,
  files: readonly SourceFile[],
  sql: string,
): Promise<readonly InspectedRow[]> {
  const key = keyOf(files, sql);
  if (key === null) return engine.inspect(sql);
  const own = kept.get(engine) ?? { answers: new Map<string, readonly InspectedRow[]>(), length: 0 };
  kept.set(engine, own);
  const known = own.answers.get(key);
  if (known !== undefined) {
    own.answers.delete(key);
    own.answers.set(key, known);
    return known;
  }
  const rows = await engine.inspect(sql);
  if (!own.answers.has(key)) own.length += lengthOf(key, rows);
  own.answers.set(key, rows);
  for (const [oldest, answer] of own.answers) {
    if (own.length <= MOST_KEPT) break;
    own.answers.delete(oldest);
    own.length -= lengthOf(oldest, answer);
  }
  return rows;
}

const lengthOf = (key: string, rows: readonly InspectedRow[]) => key.length + rows.length * ROW_LENGTH;

/** Null: some of them may still be written to. The question names the files. */
function keyOf(files: readonly SourceFile[], sql: string): string | null {
  const latest = Date.now() - SETTLED_MS;
  const states: string[] = [];
  for (const { bytes, writtenAt, inode } of files) {
    if (inode === undefined || writtenAt > latest) return null;
    states.push(`${bytes} ${writtenAt} ${inode}`);
  }
  return `${states.join(",")} ${sql}`;
}
