/**
 * How much memory a process uses: the one seam through which memory is measured, so that a test can set it.
 * Resident memory as the kernel sees it; what of it is shared, and what to do about it, is for others.
 */
import { readFileSync } from "node:fs";
import type { Bytes } from "../protocol/index.ts";

export interface MemoryGauge {
  /** Null: there is no such process (any more), or no way to see it. */
  resident(pid: number): Bytes | null;
}

/** Reads /proc/<pid>/status: unlike statm, which is cheaper still, it does not count in pages of unknown size. */
export const procGauge: MemoryGauge = {
  resident(pid) {
    try {
      const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"));
      return found === null ? null : Number(found[1]) * 1024;
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
