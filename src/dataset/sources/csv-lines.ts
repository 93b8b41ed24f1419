/**
 * How long the lines of a CSV file may be. The kernel reads several buffers of a file at a time and finds lines in each
 * by itself, which goes wrong where a line is a good part of a buffer: so buffers are longer where lines are, and only
 * there.
 */
import { open } from "node:fs/promises";
import type { Bytes } from "../../protocol/index.ts";
import type { SourceFile } from "./files.ts";

/** As arguments of the kernel's reader. */
export interface LineLimits {
  readonly line: Bytes;
  readonly buffer: Bytes;
}

/** The kernel's own. A file that is no longer than one buffer may have lines as long as it is. */
const BUFFER: Bytes = 32_000_000;
const BUFFERS_A_LINE = 16;
export const DEFAULT_LIMITS: LineLimits = { line: BUFFER / BUFFERS_A_LINE, buffer: BUFFER };
const LONGEST_BUFFER: Bytes = BUFFERS_A_LINE * BUFFER;
const PROBES = 64;
const PROBE: Bytes = 64 * 1024;

/** `longest`: what the user asks for; `packed`: of compressed files only the kernel knows the length. */
export async function lineLimits(file: SourceFile, longest: Bytes | null, packed: boolean): Promise<LineLimits> {
  if (longest !== null) return { line: longest, buffer: Math.max(BUFFER, BUFFERS_A_LINE * longest) };
  if (!packed && file.bytes < BUFFER) return { line: BUFFER - 1, buffer: BUFFER };
  if (packed || !(await hasLongLines(file))) return DEFAULT_LIMITS;
  const buffer = Math.min(LONGEST_BUFFER, file.bytes + 1);
  return { line: buffer === LONGEST_BUFFER ? BUFFER : buffer - 1, buffer };
}

/** Looked for at places all over the file: lines that matter are a good part of it. */
async function hasLongLines(file: SourceFile): Promise<boolean> {
  const handle = await open(file.path, "r");
  try {
    const bytes = Buffer.allocUnsafe(PROBE);
    for (let i = 0; i < PROBES; i++) {
      const { bytesRead } = await handle.read(bytes, 0, PROBE, Math.floor(((file.bytes - PROBE) * i) / (PROBES - 1)));
      const read = bytes.subarray(0, bytesRead);
      if (!read.includes(10) && !read.includes(13)) return true;
    }
    return false;
  } finally {
    await handle.close();
  }
}

export function lineArguments({ line, buffer }: LineLimits): readonly string[] {
  return [`max_line_size=${line}`, `buffer_size=${buffer}`];
}
