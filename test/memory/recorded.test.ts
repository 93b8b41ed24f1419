/**
 * Files of a real system with version 2 of control groups (Linux 6.1, the box of CONTRIBUTING.md), recorded right after
 * the system had killed in a container of 512 MiB: a worker, and with `memory.oom.group` everything in it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { groupKill } from "../../src/cli/doctor/machine.ts";
import { gaugeOver, groupThatEndsTogether, nodeMemory } from "../../src/memory/index.ts";
import { filesOf } from "./files.ts";

const MIB = 2 ** 20;
const MACHINE = 3_055_132 * 1024;
const GROUPS = "/sys/fs/cgroup";
const JOB = `${GROUPS}/pod/job`;

function recorded(name: string): Record<string, string> {
  const directory = fileURLToPath(new URL(`./recorded/${name}`, import.meta.url));
  const names = readdirSync(directory, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    names
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [path.slice(directory.length), readFileSync(path, "utf8")];
      }),
  );
}

/** As seen from inside: the container's own group is the outermost one. */
function inContainer(files: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(files).filter(([path]) => !path.startsWith(GROUPS));
  const job = Object.entries(files).filter(([path]) => path.startsWith(JOB));
  return Object.fromEntries([...own, ...job.map(([path, text]) => [path.replace(JOB, GROUPS), text] as const)]);
}

/** As seen by a process whose group is not the outermost one that it sees. */
function inGroup(files: Readonly<Record<string, string>>): Record<string, string> {
  return { ...files, "/proc/self/cgroup": "0::/pod/job\n" };
}

for (const [where, view] of Object.entries({ container: inContainer, group: inGroup })) {
  test(`[K1] recorded v2 ${where}: the limit, and what is in use without page cache`, () => {
    const gauge = gaugeOver(filesOf(view(recorded("one-killed"))), MACHINE);
    // What the function had left in /dev/shm, and the system's own, but not the slabs that it can take back.
    expect(gauge.node()).toEqual({ used: 455_335_936 + 1_081_344 - 1_071_752, total: 512 * MIB });
    expect(nodeMemory((path) => view(recorded("one-killed"))[path] ?? null, MACHINE)).toBe(512 * MIB);
  });

  test(`[D4] recorded v2 ${where}: kills are counted by process, those of a whole group, too`, () => {
    const one = gaugeOver(filesOf(view(recorded("one-killed"))), MACHINE);
    expect(one.oomKills()).toEqual({ container: 1, machine: 2, ours: 1 });
    const all = gaugeOver(filesOf(view(recorded("all-killed"))), MACHINE);
    expect(all.oomKills()).toEqual({ container: 4, machine: 12, ours: 4 });
  });

  test(`[W4] recorded v2 ${where}: doctor says if the system ends the program together with a worker`, () => {
    const [one, all] = ["one-killed", "all-killed"].map((name) => filesOf(view(recorded(name))));
    expect(groupKill(one?.read ?? (() => null))).toEqual([]);
    expect(groupThatEndsTogether(all?.read, MACHINE)).toBe(where === "container" ? GROUPS : JOB);
    const text = expect.stringContaining(`memory.oom.group is 1 in ${where === "container" ? GROUPS : JOB}`);
    expect(groupKill(all?.read ?? (() => null))).toMatchObject([{ state: "note", text }]);
  });
}
