/** A made-up machine: its files by path. */
import type { SystemFiles } from "../../src/memory/index.ts";

export function filesOf(files: Readonly<Record<string, string>>): SystemFiles {
  const namesIn = (path: string, wanted: (rest: readonly string[]) => boolean) => {
    const rests = Object.keys(files)
      .filter((file) => file.startsWith(`${path}/`))
      .map((file) => file.slice(path.length + 1).split("/"));
    return [...new Set(rests.filter(wanted).map(([name = ""]) => name))];
  };
  return {
    read: (path) => files[path] ?? null,
    list: (path) => namesIn(path, () => true),
    listDirectories: (path) => namesIn(path, (rest) => rest.length > 1),
  };
}

export const V1_MOUNT = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
export const V2_MOUNT = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
