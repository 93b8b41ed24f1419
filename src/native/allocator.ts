/** Which allocator provides malloc in this process: malloc_trim gives memory back only with glibc's own. */
import { readFileSync } from "node:fs";
import { isLinux } from "./libc.ts";

const OTHERS = /\/lib(jemalloc|tcmalloc|mimalloc)[^/\n]*$/m;

/** Null: malloc_trim works. */
export function whyNoMallocTrim(
  readMaps: () => string = () => readFileSync("/proc/self/maps", "latin1"),
): string | null {
  if (!isLinux) return `there is none on ${process.platform}`;
  const other = OTHERS.exec(readMaps())?.[1];
  return other === undefined ? null : `the allocator is ${other}`;
}
