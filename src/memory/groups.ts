/**
 * The control groups that this process is in, version 1 and 2, with those that they are nested in: every limit counts,
 * and the smallest is the one that kills. (`process.constrainedMemory()` reads one file: in a nested group of version 1
 * it answers "no limit".)
 */
import { dirname, join } from "node:path";
import type { Bytes } from "../protocol/index.ts";
import { statistics } from "./statistics.ts";
import type { ReadText } from "./system-files.ts";

export interface MemoryGroup {
  readonly version: 1 | 2;
  /** Its directory. */
  readonly path: string;
  /** The outermost that is seen from here. */
  readonly isOutermost: boolean;
}

interface Hierarchy {
  /** Where it is mounted, and which group of it is seen there. */
  readonly mount: string;
  readonly root: string;
  /** The group this process is in. */
  readonly group: string;
  readonly version: 1 | 2;
}

const LIMIT_FILES = {
  1: ["memory.limit_in_bytes"],
  // Above `high` nothing is killed, but everything is slowed down until it is of no use.
  2: ["memory.max", "memory.high"],
} as const;

/** From the process's own group outwards. */
export function memoryGroups(read: ReadText): readonly MemoryGroup[] {
  return hierarchies(read).flatMap(({ mount, root, group, version }) => {
    const groups: MemoryGroup[] = [];
    for (let at = below(root, group); ; at = dirname(at)) {
      groups.push({ version, path: join(mount, at), isOutermost: at === "/" });
      if (at === "/") return groups;
    }
  });
}

/** Infinity: none. */
function limitOf({ version, path, isOutermost }: MemoryGroup, read: ReadText): Bytes {
  // "max" is no number; nor is a group without memory control a limit.
  const limits = LIMIT_FILES[version].map((file) => Number.parseInt(read(join(path, file)) ?? "", 10));
  if (version === 1 && isOutermost) limits.push(limitAround(path, read));
  return Math.min(...limits.map((limit) => (limit > 0 ? limit : Number.POSITIVE_INFINITY)));
}

/** A container does not see the groups around its own; version 1 tells the least of their limits all the same. */
function limitAround(path: string, read: ReadText): Bytes {
  return statistics(read(join(path, "memory.stat"))).get("hierarchical_memory_limit") ?? Number.NaN;
}

export interface LimitingGroup extends MemoryGroup {
  readonly limit: Bytes;
  /** From the process's own group to this one. */
  readonly inside: readonly MemoryGroup[];
}

/** The group that decides; null where the machine itself is smaller than every limit. */
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

/** The group as seen at the mount point: a container is often shown its own group as the root of all. */
function below(root: string, group: string): string {
  if (group.includes("/..")) return "/";
  if (root === "/") return group;
  return group === root || group.startsWith(`${root}/`) ? join("/", group.slice(root.length)) : "/";
}
