/**
 * The logs of a session. A name is looked up among the existing files, so it cannot lead anywhere else. Users'
 * functions print lines of any length, so texts are cut by bytes.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Bytes } from "../../protocol/index.ts";
import type { LogFile, LogText } from "../api.ts";

const NAME = /^(?:worker-(\d+)|supervisor|dashboard)\.log$/;
/** Bytes of one answer. */
const PAGE: Bytes = 256 * 1024;
/** Only the last part of a longer log is searched. */
const SEARCHED: Bytes = 64 * 2 ** 20;
const MOST_FOUND = 1_000;
const LONGEST_LINE: Bytes = 2_000;
const LINE_END = 10;

export function logFiles(directory: string): readonly LogFile[] {
  return namesIn(directory)
    .map((name) => {
      const worker = NAME.exec(name)?.[1];
      return using(directory, name, (fd) => {
        const { size, mtimeMs } = fstatSync(fd);
        return { name, bytes: size, modified: mtimeMs, worker: worker === undefined ? null : Number(worker) };
      });
    })
    .sort((one, two) => (one.worker ?? -1) - (two.worker ?? -1) || one.name.localeCompare(two.name));
}

export function isLog(directory: string, name: string): boolean {
  return namesIn(directory).includes(name);
}

function namesIn(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && NAME.test(entry.name))
    .map(({ name }) => name);
}

/**
 * Reads from byte `from`; null reads the end of the log. `find` also searches for lines with this text, ignoring case.
 */
export function logText(directory: string, name: string, from: Bytes | null, find: string | null): LogText {
  return using(directory, name, (fd) => {
    const { size } = fstatSync(fd);
    const start = Math.max(0, Math.min(from ?? size - PAGE, size));
    const end = Math.min(size, start + PAGE);
    const text = read(fd, start, end).toString("utf8");
    const found = find === null || find === "" ? {} : { found: search(fd, size, find) };
    return { name, size, from: start, to: end, text, ...found };
  });
}

/** The caller closes the descriptor. */
export function openLog(directory: string, name: string): number {
  return openSync(join(directory, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

function search(fd: number, size: Bytes, find: string): NonNullable<LogText["found"]> {
  const first = Math.max(0, size - SEARCHED);
  const bytes = read(fd, first, size);
  const wanted = find.toLowerCase();
  const lines: { at: Bytes; text: string }[] = [];
  let total = 0;
  for (let at = 0; at < bytes.length; ) {
    const next = bytes.indexOf(LINE_END, at);
    const end = next === -1 ? bytes.length : next;
    const line = bytes.toString("utf8", at, end);
    const found = line.toLowerCase().indexOf(wanted);
    if (found !== -1) {
      total += 1;
      if (lines.length < MOST_FOUND) lines.push({ at: first + at, text: around(line, found) });
    }
    at = end + 1;
  }
  return { total, lines };
}

/** From a long line, the part around the found text. */
function around(line: string, found: number): string {
  if (line.length <= LONGEST_LINE) return line;
  const from = Math.max(0, Math.min(found - LONGEST_LINE / 2, line.length - LONGEST_LINE));
  const to = from + LONGEST_LINE;
  return `${from > 0 ? "…" : ""}${line.slice(from, to)}${to < line.length ? "…" : ""}`;
}

function read(fd: number, from: Bytes, to: Bytes): Buffer {
  const bytes = Buffer.alloc(to - from);
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from));
}

function using<Result>(directory: string, name: string, use: (fd: number) => Result): Result {
  const fd = openLog(directory, name);
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}
