/**
 * The one seam through which memory is measured, so that tests can replace it: the memory of processes and of the node,
 * and the kills of the system's OOM killer. Decisions are made elsewhere. Nothing here throws: a figure that cannot be
 * read is null or 0.
 */
import { freemem, totalmem } from "node:os";
import type { Bytes, MemoryUser, NodeMemory, ProcessMemory } from "../protocol/index.ts";
import { type LimitingGroup, limitingGroup, type MemoryGroup, memoryGroups } from "./groups.ts";
import { groupMemory, machineMemory } from "./node-usage.ts";
import { type OomKills, oomKills } from "./oom-kills.ts";
import { ProcessTree } from "./process-tree.ts";
import { type SystemFiles, systemFiles } from "./system-files.ts";
import { memoryUsers } from "./users.ts";

export interface MemoryGauge {
  /**
   * The process with its descendants, or alone. Null: there is no such process (any more), or it cannot be inspected.
   */
  process(pid: number, which?: "tree" | "alone"): ProcessMemory | null;
  node(): NodeMemory;
  /**
   * Kills of the system's OOM killer so far: in this control group (and those it is nested in), on the machine, and
   * those that may have hit this session.
   */
  oomKills(): OomKills;
  /** The processes of the node that use the most memory, under the names that the system gives them. */
  users(count: number): readonly MemoryUser[];
}

export function gaugeOver(files: SystemFiles, machine: Bytes = totalmem()): MemoryGauge {
  const tree = new ProcessTree(files);
  // Found once: a process hardly ever changes its group, and some machines have thousands of mounts. Limits are read
  // every time.
  let known: readonly MemoryGroup[] | null = null;
  const groups = (): readonly MemoryGroup[] => {
    known ??= memoryGroups(files.read);
    return known;
  };
  const limiting = (): LimitingGroup | null => limitingGroup(groups(), machine, files.read);
  return {
    process: (pid, which = "tree") => (which === "tree" ? tree.whole(pid) : tree.alone(pid)),
    node() {
      const group = limiting();
      const ofGroup = group === null ? null : groupMemory(group, files.read);
      return ofGroup ?? machineMemory(files.read) ?? { used: totalmem() - freemem(), total: totalmem() };
    },
    oomKills: () => oomKills(limiting(), groups(), files.read),
    users: (count) => memoryUsers(count, limiting(), tree, files),
  };
}

export const procGauge: MemoryGauge = gaugeOver(systemFiles);
