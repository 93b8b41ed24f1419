/**
 * How long the lines of a CSV file may be. The kernel reads several buffers of a file at a time and finds the lines in
 * each buffer independently, which fails if a line fills a good part of a buffer. So files with long lines, and only
 * those, get longer buffers.
 */
import { open } from "node:fs/promises";
import { LONGEST_RECORD } from "../../csv/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import type { SourceFile } from "./files.ts";

/** As arguments of the kernel's reader. */
export interface LineLimits {
  readonly line: Bytes;
  readonly buffer: Bytes;
}

/** The kernel's default. In a file no longer than one buffer, a line may be as long as the file. */
const BUFFER: Bytes = 32_000_000;
const BUFFERS_A_LINE = 16;
export const DEFAULT_LIMITS: LineLimits = { line: BUFFER / BUFFERS_A_LINE, buffer: BUFFER };
/**
 * For files whose records are proved. Small buffers stay in the processor's cache, which saves an eighth of the
 * reading.
 */
export const PROVED_LIMITS: LineLimits = { line: LONGEST_RECORD, buffer: BUFFERS_A_LINE * LONGEST_RECORD };
const LONGEST_BUFFER: Bytes = BUFFERS_A_LINE * BUFFER;
const FEWEST_PROBES = 64;
const PROBE: Bytes = 64 * 1024;

/** `longest`: what the user asks for. `packed`: only the kernel knows the unpacked length of a compressed file. */
export async function lineLimits(file: SourceFile, longest: Bytes | null, packed: boolean): Promise<LineLimits> {
  const asked = limitsFor(longest);
  if (longest === null && !packed && file.bytes < BUFFER) return { line: BUFFER - 1, buffer: BUFFER };
  if (packed || file.bytes < asked.buffer || !(await hasLongLines(file, asked.buffer))) return asked;
  const buffer = Math.max(asked.buffer, Math.min(LONGEST_BUFFER, file.bytes + 1));
  return { line: longest ?? (buffer === LONGEST_BUFFER ? BUFFER : buffer - 1), buffer };
}

/** Without a look at the file. */
export function limitsFor(longest: Bytes | null): LineLimits {
  return longest === null ? DEFAULT_LIMITS : { line: longest, buffer: Math.max(BUFFER, BUFFERS_A_LINE * longest) };
}

/**
 * Samples places all over the file: a line long enough to matter fills a good part of it. The kernel silently drops a
 * line that is longer than a buffer, so two samples are never further apart than half a buffer.
 */
async function hasLongLines(file: SourceFile, buffer: Bytes): Promise<boolean> {
  const probes = Math.max(FEWEST_PROBES, 1 + Math.ceil(file.bytes / (buffer / 2)));
  const handle = await open(file.path, "r");
  try {
    const bytes = Buffer.allocUnsafe(PROBE);
    for (let i = 0; i < probes; i++) {
      const { bytesRead } = await handle.read(bytes, 0, PROBE, Math.floor(((file.bytes - PROBE) * i) / (probes - 1)));
      const read = bytes.subarray(0, bytesRead);
      if (!read.includes(10) && !read.includes(13)) return true;
    }
    return false;
  } finally {
    await handle.close();
  }
}

/**
 * A last line of this length is refused before the kernel may leave it out, which it does from a little less than a
 * buffer on. Below half a buffer it refuses the line itself, with its number.
 */
export function refusedLine({ line, buffer }: LineLimits): Bytes {
  return Math.max(line + 1, buffer / 2);
}

export function lineArguments({ line, buffer }: LineLimits): readonly string[] {
  return [`max_line_size=${line}`, `buffer_size=${buffer}`];
}
