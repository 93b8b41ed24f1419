/**
 * How much memory a process uses: the one seam through which memory is measured, so that a test can set it.
 * Resident memory as the kernel sees it; what of it is shared, and what to do about it, is for others.
 */
import { readFileSync } from "node:fs";
import type { Bytes } from "../protocol/index.ts";

const PAGE_SIZE = 4096;

export interface MemoryGauge {
  /** Null: there is no such process (any more), or no way to see it. */
  resident(pid: number): Bytes | null;
}

/** Reads /proc/<pid>/statm: about 15 µs, no matter how large the process. */
export const procGauge: MemoryGauge = {
  resident(pid) {
    try {
      const pages = Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ", 2)[1]);
      return Number.isFinite(pages) ? pages * PAGE_SIZE : null;
    } catch {
      // Ended between two looks, or a system without /proc: both mean that there is no figure.
      return null;
    }
  },
};

/** The highest resident memory this process has had. */
export function ownMemory(): Bytes {
  return process.resourceUsage().maxRSS * 1024;
}
