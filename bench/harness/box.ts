/**
 * A memory box: a control group with a limit, in which the system's OOM killer acts. Needs root and a writable cgroup
 * (v1 memory controller, or v2). Without these, asking for a box is an error, and never a run without one. Tests use
 * it, too (test/support/box.ts).
 */
import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bytes } from "../workload.ts";
import { type ControlGroup, makeGroup, whyNoGroup } from "./control-group.ts";

/** The most memory that processes in the box held, and what became of them. */
export interface BoxPeaks {
  /** Anonymous memory, shared memory and the system's own at one moment: memory that cannot be reclaimed. */
  readonly held: Bytes;
  /** The same with page cache, which grows up to the limit wherever files are read or written. */
  readonly charged: Bytes;
  /** Kills of the system's OOM killer. */
  readonly kills: number;
}

export interface Box {
  readonly path: string;
  /**
   * The command that runs `command` inside. In a container, the box is the only control group that is visible, so that
   * engines which do not look for their own group find its limit.
   */
  enter(command: readonly string[], isContainer?: boolean): string[];
  /** Watches the memory from now on, until the returned function is called for the peaks. */
  watch(): () => Promise<BoxPeaks>;
  /** Ends the processes inside, which only the user of the box can have started, and removes the group. */
  remove(): Promise<void>;
}

interface Version {
  readonly root: string;
  readonly limit: string;
  readonly kills: string;
  readonly mostCharged: string;
  held(path: string): Bytes;
}

const V1: Version = {
  root: "/sys/fs/cgroup/memory",
  limit: "memory.limit_in_bytes",
  kills: "memory.oom_control",
  mostCharged: "memory.max_usage_in_bytes",
  // The system's part includes reclaimable slabs, so the figure is rather too high than too low.
  held: (path) =>
    statistics(path, ["total_rss", "total_shmem"]) +
    Number(readFileSync(join(path, "memory.kmem.usage_in_bytes"), "latin1")),
};

const V2: Version = {
  root: "/sys/fs/cgroup",
  limit: "memory.max",
  kills: "memory.events",
  mostCharged: "memory.peak",
  held: (path) =>
    statistics(path, ["anon", "shmem", "kernel_stack", "pagetables", "percpu", "sock", "slab_unreclaimable"]),
};

const LOOK_EVERY_MS = 50;

/** Why no box can be made here; null if one can. */
export function whyNoBox(): Promise<string | null> {
  return whyNoGroup(() => makeBox(64 << 20));
}

export async function makeBox(limit: Bytes): Promise<Box> {
  const version = existsSync(join(V1.root, V1.limit)) ? V1 : V2;
  const { path, enter, remove } = await limitedGroup(version, limit);
  return {
    path,
    enter: (command, isContainer = false) =>
      isContainer
        ? ["unshare", "--mount", ...enter(command, `mount --bind '${path}' '${version.root}' && `)]
        : enter(command),
    watch: () => watch(path, version),
    remove,
  };
}

async function limitedGroup(version: Version, limit: Bytes): Promise<ControlGroup> {
  let group: ControlGroup | null = null;
  try {
    group = await makeGroup(version.root, "box");
    await writeFile(join(group.path, version.limit), String(limit));
    return group;
  } catch (cause) {
    await group?.remove();
    throw new Error(`A box of ${limit} bytes cannot be made in ${version.root}; it takes root and a writable cgroup.`, {
      cause,
    });
  }
}

function watch(path: string, version: Version): () => Promise<BoxPeaks> {
  let held = 0;
  const look = (): void => {
    held = Math.max(held, version.held(path));
  };
  look();
  const timer = setInterval(look, LOOK_EVERY_MS);
  return async () => {
    clearInterval(timer);
    look();
    // Older systems with v2 do not have this file.
    const charged = await readFile(join(path, version.mostCharged), "utf8").catch(() => "0");
    const events = await readFile(join(path, version.kills), "utf8");
    return { held, charged: Number(charged), kills: Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0) };
  };
}

function statistics(path: string, names: readonly string[]): Bytes {
  const text = readFileSync(join(path, "memory.stat"), "latin1");
  const values = new Map(text.split("\n").map((line) => [line.split(" ")[0], Number(line.split(" ")[1])]));
  return names.reduce((sum, name) => sum + (values.get(name) ?? 0), 0);
}
