/**
 * The control groups (versions 1 and 2) that this process is in, and the groups around them. Every limit counts; the
 * smallest one kills. (`process.constrainedMemory()` reads a single file: in a nested group of version 1 it reports no
 * limit.)
 */
import { dirname, join } from "node:path";
import type { Bytes } from "../protocol/index.ts";
import { statistic } from "./statistics.ts";
import type { ReadText } from "./system-files.ts";

export interface MemoryGroup {
  readonly version: 1 | 2;
  /** The group's directory. */
  readonly path: string;
  /** Whether it is the outermost group that this process can see. */
  readonly isOutermost: boolean;
}

interface Hierarchy {
  /** Where the hierarchy is mounted, and which group is visible at that place. */
  readonly mount: string;
  readonly root: string;
  /** The group this process is in. */
  readonly group: string;
  readonly version: 1 | 2;
}

const LIMIT_FILES = {
  1: ["memory.limit_in_bytes"],
  // Above `high` the system kills nothing, but slows the group down until it is useless.
  2: ["memory.max", "memory.high"],
} as const;

/** From the process's own group outwards. */
export function memoryGroups(read: ReadText): readonly MemoryGroup[] {
  return hierarchies(read).flatMap(({ mount, root, group, version }) => {
    const groups: MemoryGroup[] = [];
    for (let at = below(root, group); ; at = dirname(at)) {
      groups.push({ version, path: at === "/" ? mount : join(mount, at), isOutermost: at === "/" });
      if (at === "/") return groups;
    }
  });
}

/** Infinity: the group has no limit. */
function limitOf({ version, path, isOutermost }: MemoryGroup, read: ReadText): Bytes {
  // Neither "max" nor a group without memory control is a limit.
  const limits = LIMIT_FILES[version].map((file) => Number.parseInt(read(join(path, file)) ?? "", 10));
  if (version === 1 && isOutermost) limits.push(limitAround(path, read));
  return Math.min(...limits.map((limit) => (limit > 0 ? limit : Number.POSITIVE_INFINITY)));
}

/**
 * The smallest limit of the groups around this one. A container cannot see those groups, but version 1 tells their
 * smallest limit.
 */
function limitAround(path: string, read: ReadText): Bytes {
  return statistic(read(join(path, "memory.stat")), "hierarchical_memory_limit") ?? Number.NaN;
}

export interface LimitingGroup extends MemoryGroup {
  readonly limit: Bytes;
  /** From the process's own group to this one. */
  readonly inside: readonly MemoryGroup[];
}

/** The group that decides; null if the machine has less memory than every limit. */
export function limitingGroup(groups: readonly MemoryGroup[], machine: Bytes, read: ReadText): LimitingGroup | null {
  let found: LimitingGroup | null = null;
  for (const group of groups) {
    const limit = limitOf(group, read);
    if (limit >= (found?.limit ?? machine)) continue;
    const inside = groups.slice(0, groups.indexOf(group) + 1).filter(({ version }) => version === group.version);
    found = { ...group, limit, inside };
  }
  return found;
}

function hierarchies(read: ReadText): Hierarchy[] {
  const groups = (read("/proc/self/cgroup") ?? "").split("\n").map((line) => {
    const [, controllers = "", ...path] = line.split(":");
    return { controllers: controllers.split(","), path: path.join(":") };
  });
  const v1 = groups.find(({ controllers }) => controllers.includes("memory"));
  const v2 = groups.find(({ controllers, path }) => controllers[0] === "" && path !== "");
  return (read("/proc/self/mountinfo") ?? "").split("\n").flatMap((line): Hierarchy[] => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root = "/", mount = ""] = before.split(" ");
    const [type, , options = ""] = after.split(" ");
    if (type === "cgroup2" && v2 !== undefined) return [{ mount, root, group: v2.path, version: 2 }];
    const isMemory = type === "cgroup" && options.split(",").includes("memory");
    return isMemory && v1 !== undefined ? [{ mount, root, group: v1.path, version: 1 }] : [];
  });
}

/** The group's path below the mount point: a container often sees its own group as the root. */
function below(root: string, group: string): string {
  if (group.includes("/..")) return "/";
  if (root === "/") return group;
  return group === root || group.startsWith(`${root}/`) ? join("/", group.slice(root.length)) : "/";
}
