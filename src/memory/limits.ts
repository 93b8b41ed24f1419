/**
 * How much memory this process may have: the machine's, or less where a control group says so. Every group counts, the
 * process's own and those it is nested in, version 1 and 2: the smallest limit is the one that kills.
 * (`process.constrainedMemory()` reads one file: in a nested group of version 1 it answers "no limit".)
 */
import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import type { Bytes } from "../protocol/index.ts";

/** A file's text, null where there is none: the seam for tests. */
export type ReadText = (path: string) => string | null;

interface Hierarchy {
  /** Where it is mounted, and which group of it is seen there. */
  readonly mount: string;
  readonly root: string;
  /** The group this process is in. */
  readonly group: string;
  readonly limitFiles: readonly string[];
}

const V1_FILES = ["memory.limit_in_bytes"];
/** Above `high` nothing is killed, but everything is slowed down until it is of no use. */
const V2_FILES = ["memory.max", "memory.high"];

export function nodeMemory(read: ReadText = readText, machine: Bytes = totalmem()): Bytes {
  const limits = hierarchies(read).flatMap((hierarchy) => limitsIn(hierarchy, read));
  return Math.min(machine, ...limits);
}

function hierarchies(read: ReadText): Hierarchy[] {
  const groups = (read("/proc/self/cgroup") ?? "").split("\n").map((line) => {
    const [, controllers = "", ...path] = line.split(":");
    return { controllers: controllers.split(","), path: path.join(":") };
  });
  const v1 = groups.find(({ controllers }) => controllers.includes("memory"));
  const v2 = groups.find(({ controllers, path }) => controllers[0] === "" && path !== "");
  return (read("/proc/self/mountinfo") ?? "").split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root = "/", mount = ""] = before.split(" ");
    const [type, , options = ""] = after.split(" ");
    if (type === "cgroup2" && v2 !== undefined) return [{ mount, root, group: v2.path, limitFiles: V2_FILES }];
    const isMemory = type === "cgroup" && options.split(",").includes("memory");
    return isMemory && v1 !== undefined ? [{ mount, root, group: v1.path, limitFiles: V1_FILES }] : [];
  });
}

function limitsIn({ mount, root, group, limitFiles }: Hierarchy, read: ReadText): Bytes[] {
  const limits: Bytes[] = [];
  for (let at = below(root, group); ; at = dirname(at)) {
    for (const file of limitFiles) {
      const limit = Number.parseInt(read(join(mount, at, file)) ?? "", 10);
      // "max" is no number; nor is a group without memory control a limit.
      if (limit > 0) limits.push(limit);
    }
    if (at === "/") return limits;
  }
}

/** The group as seen at the mount point: a container is often shown its own group as the root of all. */
function below(root: string, group: string): string {
  if (group.includes("/..")) return "/";
  if (root === "/") return group;
  return group === root || group.startsWith(`${root}/`) ? join("/", group.slice(root.length)) : "/";
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // No such group, no such controller, or no /proc at all: no limit to be had from it.
    return null;
  }
}
