import { expect, test } from "vitest";
import { nodeMemory } from "../../src/memory/index.ts";

const GIB = 2 ** 30;
const V1_MOUNT = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
const V2_MOUNT = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

function memoryWith(files: Readonly<Record<string, string>>): number {
  return nodeMemory((path) => files[path] ?? null, 16 * GIB);
}

test("[K1] without control groups it is the machine's memory", () => {
  expect(memoryWith({})).toBe(16 * GIB);
});

test("[K1] a limit of a v1 group counts, also one further out", () => {
  const files = {
    "/proc/self/cgroup": "5:cpu:/\n4:memory:/outer/inner\n0::/\n",
    "/proc/self/mountinfo": V1_MOUNT,
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    "/sys/fs/cgroup/memory/outer/memory.limit_in_bytes": `${GIB}\n`,
    "/sys/fs/cgroup/memory/outer/inner/memory.limit_in_bytes": "9223372036854771712\n",
  };
  expect(memoryWith(files)).toBe(GIB);
  expect(memoryWith({ ...files, "/sys/fs/cgroup/memory/outer/inner/memory.limit_in_bytes": "1000000\n" })).toBe(1e6);
});

test("[K1] a limit of a v2 group counts, also one further out, and `high` like `max`", () => {
  const files = {
    "/proc/self/cgroup": "0::/user.slice/job.scope\n",
    "/proc/self/mountinfo": V2_MOUNT,
    "/sys/fs/cgroup/user.slice/memory.max": `${2 * GIB}\n`,
    "/sys/fs/cgroup/user.slice/memory.high": "max\n",
    "/sys/fs/cgroup/user.slice/job.scope/memory.max": "max\n",
    "/sys/fs/cgroup/user.slice/job.scope/memory.high": "max\n",
  };
  expect(memoryWith(files)).toBe(2 * GIB);
  expect(memoryWith({ ...files, "/sys/fs/cgroup/user.slice/job.scope/memory.high": `${GIB}\n` })).toBe(GIB);
});

test("[K1] a container that sees its own group as the root finds its limit there", () => {
  const limit = { "/sys/fs/cgroup/memory/memory.limit_in_bytes": `${GIB}\n` };
  const mount = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
  expect(memoryWith({ ...limit, "/proc/self/cgroup": "4:memory:/docker/abc\n", "/proc/self/mountinfo": mount })).toBe(
    GIB,
  );
  const inner = { "/sys/fs/cgroup/memory/job/memory.limit_in_bytes": "1000000\n" };
  expect(
    memoryWith({
      ...limit,
      ...inner,
      "/proc/self/cgroup": "4:memory:/docker/abc/job\n",
      "/proc/self/mountinfo": mount,
    }),
  ).toBe(1e6);
  expect(
    memoryWith({ ...limit, "/proc/self/cgroup": "4:memory:/../elsewhere\n", "/proc/self/mountinfo": V1_MOUNT }),
  ).toBe(GIB);
});

test("[K1] with both versions mounted, the one that limits memory decides", () => {
  const files = {
    "/proc/self/cgroup": "4:memory:/job\n0::/\n",
    "/proc/self/mountinfo": `${V1_MOUNT}41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n`,
    "/sys/fs/cgroup/memory/job/memory.limit_in_bytes": `${GIB}\n`,
  };
  expect(memoryWith(files)).toBe(GIB);
});

test("[K1] a limit above the machine's memory is none", () => {
  const files = {
    "/proc/self/cgroup": "0::/\n",
    "/proc/self/mountinfo": V2_MOUNT,
    "/sys/fs/cgroup/memory.max": `${64 * GIB}`,
  };
  expect(memoryWith(files)).toBe(16 * GIB);
});

test("[K1] a limit around a container of version 1, in a group that is not seen from within, counts", () => {
  const files = {
    "/proc/self/cgroup": "4:memory:/pod/abc\n",
    "/proc/self/mountinfo": "35 31 0:32 /pod/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    "/sys/fs/cgroup/memory/memory.stat": `cache 1\nhierarchical_memory_limit ${GIB}\ntotal_rss 7\n`,
  };
  expect(memoryWith(files)).toBe(GIB);
  const none = "hierarchical_memory_limit 9223372036854771712\n";
  expect(memoryWith({ ...files, "/sys/fs/cgroup/memory/memory.stat": none })).toBe(16 * GIB);
});
