/** The processes with the most private memory: in the control group that limits, otherwise on the machine. */
import { join } from "node:path";
import type { MemoryUser } from "../protocol/index.ts";
import type { MemoryGroup } from "./groups.ts";
import type { ProcessTree } from "./process-tree.ts";
import { allProcesses } from "./processes.ts";
import type { SystemFiles } from "./system-files.ts";

export function memoryUsers(
  count: number,
  group: MemoryGroup | null,
  tree: ProcessTree,
  files: SystemFiles,
): readonly MemoryUser[] {
  const pids = group === null ? allProcesses(files) : processesIn(group.path, files);
  return pids
    .map((pid) => ({ pid, private: tree.alone(pid)?.private ?? 0 }))
    .filter((user) => user.private > 0)
    .sort((a, b) => b.private - a.private)
    .slice(0, count)
    .map((user) => ({ ...user, name: files.read(`/proc/${user.pid}/comm`)?.trimEnd() ?? "" }));
}

/** Processes of nested groups are listed in their own group's file. */
function processesIn(path: string, files: SystemFiles): readonly number[] {
  const own = (files.read(join(path, "cgroup.procs")) ?? "").split("\n").filter(Boolean).map(Number);
  return [...own, ...files.listDirectories(path).flatMap((name) => processesIn(join(path, name), files))];
}
