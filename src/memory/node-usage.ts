/**
 * How much of the node's memory is in use: in the control group whose limit decides, otherwise on the machine. Only
 * memory that the system cannot take back counts: anonymous memory, shared memory (which includes the store) and the
 * system's own. Page cache does not count, because reading files always fills what is left.
 */
import { join } from "node:path";
import type { Bytes, NodeMemory } from "../protocol/index.ts";
import type { LimitingGroup } from "./groups.ts";
import { type Statistics, statistics, sum } from "./statistics.ts";
import type { ReadText } from "./system-files.ts";

export function groupMemory(group: LimitingGroup, read: ReadText): NodeMemory | null {
  const figures = statistics(read(join(group.path, "memory.stat")));
  if (figures.size === 0) return null;
  const used = group.version === 1 ? usedV1(figures, group.path, read) : usedV2(figures);
  return { used, total: group.limit };
}

/** Null: there is no such file, as on macOS. */
export function machineMemory(read: ReadText): NodeMemory | null {
  const figures = statistics(read("/proc/meminfo"));
  const total = figures.get("MemTotal");
  const available = figures.get("MemAvailable");
  return total === undefined || available === undefined ? null : { used: total - available, total };
}

/**
 * The plain figures are of the group alone; those with `total_` include the groups inside it. Version 1 gives the
 * system's part as one figure, with reclaimable slabs: a few MiB in a group that reads and writes some large files.
 */
function usedV1(figures: Statistics, path: string, read: ReadText): Bytes {
  const kernel = Number.parseInt(read(join(path, "memory.kmem.usage_in_bytes")) ?? "", 10);
  return sum(figures, ["total_rss", "total_shmem"]) + (Number.isNaN(kernel) ? 0 : kernel);
}

function usedV2(figures: Statistics): Bytes {
  const kernel = figures.get("kernel");
  // Before Linux 5.18 the sum of the system's part is missing.
  const unreclaimable =
    kernel === undefined
      ? sum(figures, ["kernel_stack", "pagetables", "percpu", "vmalloc", "slab_unreclaimable"])
      : kernel - sum(figures, ["slab_reclaimable"]);
  return sum(figures, ["anon", "shmem", "sock", "zswap"]) + Math.max(0, unreclaimable);
}
