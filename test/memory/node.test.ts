/**
 * What is in use of the node's memory, and how often the system has killed, on made-up machines and once in a real box.
 */
import { expect, test } from "vitest";
import { gaugeOver } from "../../src/memory/index.ts";
import { boxed, runInBox } from "../support/box.ts";
import { filesOf, V1_MOUNT, V2_MOUNT } from "./files.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const V1 = "/sys/fs/cgroup/memory";
const V2 = "/sys/fs/cgroup";
const MEMINFO = `MemTotal: ${(16 * GIB) / 1024} kB\nMemFree: 1024 kB\nMemAvailable: ${(12 * GIB) / 1024} kB\n`;
const VMSTAT = "nr_free_pages 5\noom_kill 9\n";
const HOST = { "/proc/meminfo": MEMINFO, "/proc/vmstat": VMSTAT };
const NO_LIMIT = "9223372036854771712\n";

function gaugeWith(files: Readonly<Record<string, string>>) {
  return gaugeOver(filesOf(files), 16 * GIB);
}

const v1 = {
  ...HOST,
  "/proc/self/cgroup": "4:memory:/outer/inner\n0::/\n",
  "/proc/self/mountinfo": V1_MOUNT,
  [`${V1}/memory.limit_in_bytes`]: NO_LIMIT,
  [`${V1}/memory.stat`]: `total_rss ${8 * GIB}\n`,
  [`${V1}/outer/memory.limit_in_bytes`]: `${GIB}\n`,
  [`${V1}/outer/memory.stat`]: `cache ${500 * MIB}\nrss 0\nshmem 0\ntotal_cache ${700 * MIB}\ntotal_rss ${100 * MIB}\ntotal_shmem ${50 * MIB}\n`,
  [`${V1}/outer/memory.kmem.usage_in_bytes`]: `${5 * MIB}\n`,
  [`${V1}/outer/memory.oom_control`]: "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
  [`${V1}/outer/inner/memory.limit_in_bytes`]: NO_LIMIT,
  [`${V1}/outer/inner/memory.stat`]: `total_rss ${70 * MIB}\n`,
  [`${V1}/outer/inner/memory.oom_control`]: "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
};

const v2 = {
  ...HOST,
  "/proc/self/cgroup": "0::/user.slice/job.scope\n",
  "/proc/self/mountinfo": V2_MOUNT,
  [`${V2}/user.slice/memory.max`]: `${2 * GIB}\n`,
  [`${V2}/user.slice/memory.stat`]: `anon ${300 * MIB}\nfile ${900 * MIB}\nkernel ${30 * MIB}\nkernel_stack ${MIB}\npagetables ${7 * MIB}\nsock ${2 * MIB}\nshmem ${100 * MIB}\nslab_reclaimable ${20 * MIB}\nslab_unreclaimable ${2 * MIB}\n`,
  [`${V2}/user.slice/memory.events`]: "low 0\nhigh 0\nmax 4\noom 3\noom_kill 3\noom_group_kill 0\n",
  [`${V2}/user.slice/job.scope/memory.max`]: "max\n",
  [`${V2}/user.slice/job.scope/memory.stat`]: `anon ${200 * MIB}\n`,
  [`${V2}/user.slice/job.scope/memory.events`]: "oom_kill 3\n",
};

test("[M1] without a limit the node is the machine, and what the system could give back is not in use", () => {
  const gauge = gaugeWith(HOST);
  expect(gauge.node()).toEqual({ used: 4 * GIB, total: 16 * GIB });
  expect(gauge.oomKills()).toEqual({ container: 0, machine: 9, ours: 9 });
});

test("[M1] in a v1 group it is what all in it hold, without page cache", () => {
  expect(gaugeWith(v1).node()).toEqual({ used: 155 * MIB, total: GIB });
});

test("[M1] in a v2 group it is what all in it hold, without page cache and slabs that can be given back", () => {
  expect(gaugeWith(v2).node()).toEqual({ used: 412 * MIB, total: 2 * GIB });
});

test("[M1] a v2 group of an older kernel, which has no sum of its own memory", () => {
  const stat = v2[`${V2}/user.slice/memory.stat`]?.replace(/^kernel .*\n/m, "") ?? "";
  expect(gaugeWith({ ...v2, [`${V2}/user.slice/memory.stat`]: stat }).node().used).toBe(412 * MIB);
});

test("[M1] of nested groups the one with the smallest limit is the node", () => {
  const inner = { [`${V1}/outer/inner/memory.limit_in_bytes`]: `${GIB / 2}\n` };
  expect(gaugeWith({ ...v1, ...inner }).node()).toEqual({ used: 70 * MIB, total: GIB / 2 });
});

test("[M1] a limit that is changed counts at the next look", () => {
  const files: Record<string, string> = { ...v1 };
  const gauge = gaugeWith(files);
  expect(gauge.node().total).toBe(GIB);
  files[`${V1}/outer/memory.limit_in_bytes`] = `${GIB / 4}\n`;
  expect(gauge.node().total).toBe(GIB / 4);
});

test("[D4] v1 counts a kill where its victim is, up to the group that limits", () => {
  expect(gaugeWith(v1).oomKills()).toEqual({ container: 3, machine: 9, ours: 2 });
});

test("[D4] v2 counts a kill in all groups around its victim: the group that limits has them all", () => {
  expect(gaugeWith(v2).oomKills()).toEqual({ container: 3, machine: 9, ours: 3 });
});

test("[D4] without a limit a kill that the process's own group has not counted is none of ours", () => {
  const own = `${V1}/outer/inner/memory.oom_control`;
  const unlimited = { ...v1, [`${V1}/outer/memory.limit_in_bytes`]: NO_LIMIT };
  expect(gaugeWith({ ...unlimited, [own]: "oom_kill 0\n" }).oomKills()).toEqual({ container: 0, machine: 9, ours: 0 });
  expect(gaugeWith(unlimited).oomKills().ours).toBe(2);
});

test("[M4] the users are the processes of the group that limits, those with the most first", () => {
  const processes = {
    [`${V1}/outer/cgroup.procs`]: "10\n",
    [`${V1}/outer/inner/cgroup.procs`]: "11\n12\n13\n",
    "/proc/10/statm": "900 300 100 0 0 0 0\n",
    "/proc/10/comm": "sh\n",
    "/proc/11/statm": "900 800 100 0 0 0 0\n",
    "/proc/11/comm": "node\n",
    "/proc/12/statm": "900 100 90 0 0 0 0\n",
    "/proc/12/comm": "sleep\n",
    "/proc/99/statm": "9000 9000 0 0 0 0 0\n",
    "/proc/99/comm": "elsewhere\n",
  };
  expect(gaugeWith({ ...v1, ...processes }).users(2)).toEqual([
    { pid: 11, name: "node", private: 700 * 4096 },
    { pid: 10, name: "sh", private: 200 * 4096 },
  ]);
  expect(gaugeWith({ ...HOST, ...processes }).users(1)).toEqual([{ pid: 99, name: "elsewhere", private: 9000 * 4096 }]);
});

test("[M1] where there is no /proc the machine's own figures are taken, and nothing throws", () => {
  const gauge = gaugeWith({});
  const { used, total } = gauge.node();
  expect(used).toBeGreaterThan(0);
  expect(used).toBeLessThan(total);
  expect(gauge.process(process.pid)).toBeNull();
  expect(gauge.oomKills()).toEqual({ container: 0, machine: 0, ours: 0 });
  expect(gauge.users(10)).toEqual([]);
});

boxed("in a box of 256 MiB", () => {
  test("[M1] a file that fills the page cache is no use, a buffer that is filled is", async () => {
    const run = await runInBox(256 * MIB, "gauge");
    expect(run).toMatchObject({ exitCode: 0, kills: 0 });
    const { before, cached, filled, users, pid } = JSON.parse(run.stdout);
    expect(run.charged).toBeGreaterThan(240 * MIB);
    expect(before.total).toBe(256 * MIB);
    expect(cached.used - before.used).toBeLessThan(20 * MIB);
    expect(filled.used - before.used).toBeGreaterThan(60 * MIB);
    expect(filled.used - before.used).toBeLessThan(84 * MIB);
    expect(users[0]).toMatchObject({ pid });
  });
});
