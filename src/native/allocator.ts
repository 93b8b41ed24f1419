/**
 * Which allocator stands behind malloc in this process: only glibc's own can be told to give memory back by
 * malloc_trim.
 */
import { readFileSync } from "node:fs";
import { isLinux } from "./libc.ts";

const OTHERS = /\/lib(jemalloc|tcmalloc|mimalloc)[^/\n]*$/m;

/** Null: malloc_trim does its work here. */
export function whyNoMallocTrim(
  readMaps: () => string = () => readFileSync("/proc/self/maps", "latin1"),
): string | null {
  if (!isLinux) return `there is none on ${process.platform}`;
  const other = OTHERS.exec(readMaps())?.[1];
  return other === undefined ? null : `the allocator is ${other}`;
}
