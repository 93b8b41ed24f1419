/**
 * A memory box: a control group with a limit, in which the kernel really kills. Needs root and a writable cgroup (v1
 * memory controller, or v2); where there is none, asking for a box is an error and not a silent run without one.
 */
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bytes } from "../workload.ts";

export interface Box {
  /** The command that runs `command` inside. */
  enter(command: readonly string[]): string[];
  /** How often the kernel's OOM killer struck in it. */
  kills(): Promise<number>;
  remove(): Promise<void>;
}

const V1 = "/sys/fs/cgroup/memory";
const V2 = "/sys/fs/cgroup";

export async function makeBox(limit: Bytes): Promise<Box> {
  const v1 = existsSync(join(V1, "memory.limit_in_bytes"));
  const path = join(v1 ? V1 : V2, `spillway-bench-${process.pid}`);
  try {
    await mkdir(path);
    await writeFile(join(path, v1 ? "memory.limit_in_bytes" : "memory.max"), String(limit));
  } catch (cause) {
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
    throw new Error(`A box of ${limit} bytes cannot be made at ${path}; it takes root and a writable cgroup.`, {
      cause,
    });
  }
  return {
    enter: (command) => ["/bin/sh", "-c", `echo $$ > '${path}/cgroup.procs' && exec "$@"`, "box", ...command],
    kills: async () => {
      const text = await readFile(join(path, v1 ? "memory.oom_control" : "memory.events"), "utf8");
      return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
    },
    remove: () => rmdir(path),
  };
}
