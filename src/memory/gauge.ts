/**
 * The one seam through which memory is measured, so that a test can set it. What processes have, what the node has, how
 * often the system has killed; what to do about it is for others.
 */
import { readFileSync } from "node:fs";
import { freemem, totalmem } from "node:os";
import type { Bytes, MemoryUser, NodeMemory, ProcessMemory } from "../protocol/index.ts";

export interface MemoryGauge {
  /** With its descendants. Null: there is no such process (any more), or no way to see it. */
  process(pid: number): ProcessMemory | null;
  node(): NodeMemory;
  /** Kills of the system's OOM killer so far: in this control group (and those it is nested in), and on the machine. */
  oomKills(): { readonly container: number; readonly machine: number };
  /** The processes of the node that use the most, without names of ours. */
  users(count: number): readonly MemoryUser[];
}

export const procGauge: MemoryGauge = {
  process(pid) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "latin1");
      const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0) * 1024;
      return { private: kib("RssAnon"), shared: kib("RssFile") + kib("RssShmem"), children: 0 };
    } catch {
      // Ended between two looks, or a system without /proc: both mean that there is no figure.
      return null;
    }
  },
  node: () => ({ used: totalmem() - freemem(), total: totalmem() }),
  oomKills: () => ({ container: 0, machine: 0 }),
  users: () => [],
};

/** The highest resident memory this process has had. */
export function ownMemory(): Bytes {
  return process.resourceUsage().maxRSS * 1024;
}
