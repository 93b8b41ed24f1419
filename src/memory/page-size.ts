/** The size of a page of memory, in which the system counts a process's memory. */
import type { Bytes } from "../protocol/index.ts";
import type { SystemFiles } from "./system-files.ts";

const USUAL: Bytes = 4096;
const AT_PAGESZ = 6;

/** As the system told this process at its start, in pairs of words. */
export function pageSize(files: SystemFiles): Bytes {
  const words = Buffer.from(files.read("/proc/self/auxv") ?? "", "latin1");
  for (let at = 0; at + 16 <= words.length; at += 16) {
    if (words.readBigUInt64LE(at) === BigInt(AT_PAGESZ)) return Number(words.readBigUInt64LE(at + 8));
  }
  return USUAL;
}
