/**
 * What the system says of this process itself. It takes a few microseconds, because a task of a millisecond asks twice.
 * Nothing here throws: where the system does not say, the figures are 0.
 */
import { openSync, readSync } from "node:fs";
import type { Bytes } from "../protocol/index.ts";
import { pageSize } from "./page-size.ts";
import { systemFiles } from "./system-files.ts";

interface OwnMemory {
  /** RSS − SHR, and SHR. */
  readonly private: Bytes;
  readonly shared: Bytes;
  /** What `RLIMIT_DATA` counts (and the main thread's stack, at most 8 MiB), touched or not. */
  readonly data: Bytes;
}

/** Fields of statm, in pages. */
const [RESIDENT, SHARED, DATA] = [1, 2, 5];
const NOTHING: OwnMemory = { private: 0, shared: 0, data: 0 };
const SPACE = 32;
const ZERO = 48;

let statm: number | null | undefined;
let page: Bytes = 0;
const text = Buffer.allocUnsafeSlow(256);

/**
 * Read through a file that stays open: 4 µs, half of what opening it each time takes. `/proc/self/status` has the same
 * figures and takes 80 µs.
 */
export function ownMemory(): OwnMemory {
  if (statm === undefined) {
    statm = opened("/proc/self/statm", "r");
    page = pageSize(systemFiles);
  }
  if (statm === null) return NOTHING;
  const fields = [0, 0, 0, 0, 0, 0, 0];
  let field = 0;
  const length = readSync(statm, text, 0, text.length, 0);
  for (let at = 0; at < length; at++) {
    const character = text[at] ?? SPACE;
    if (character === SPACE) field += 1;
    else if (character >= ZERO) fields[field] = (fields[field] ?? 0) * 10 + character - ZERO;
  }
  const bytes = (of: number) => (fields[of] ?? 0) * page;
  return { private: Math.max(0, bytes(RESIDENT) - bytes(SHARED)), shared: bytes(SHARED), data: bytes(DATA) };
}

/** Null: there is no such file, or the system refuses. */
export function opened(path: string, flags: string): number | null {
  try {
    return openSync(path, flags);
  } catch {
    return null;
  }
}
