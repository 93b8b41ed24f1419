/** `spillway doctor`: findings of a machine that is well, and of one that is not; and the plan of `spillway info`. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { session } from "spillway";
import { expect, test } from "vitest";
import { limits, memory, nodeVersion, overcommit } from "../../src/cli/doctor/machine.ts";
import { spillway } from "../support/command-line.ts";
import { sessionNames, supervisorPid, testSessions } from "../support/sessions.ts";

const sessions = testSessions("doctor");
const LOCAL = ["--local-directory", sessions.localDirectory];
const SMALL = [...LOCAL, "--object-store-memory", "16 MiB"];

interface Finding {
  readonly state: string;
  readonly subject: string;
  readonly text: string;
  readonly remedy: string | null;
}

function findings(...words: string[]): { status: number | null; of: (subject: string) => Finding | undefined } {
  const { status, stdout } = spillway(["doctor", ...words, "--json"]);
  const all: Finding[] = JSON.parse(stdout);
  return { status, of: (subject) => all.find((finding) => finding.subject.startsWith(subject)) };
}

test("[W4] doctor finds nothing wrong where a session runs, and has a line for each thing that it looked at", () => {
  const { stdout, status } = spillway(["doctor", ...SMALL]);
  expect(status).toBe(0);
  for (const subject of [
    "node:",
    "memory:",
    "open files:",
    "/dev/shm:",
    "spilling to",
    "logs in",
    "killed sessions:",
    "jemalloc:",
  ])
    expect(stdout).toContain(subject);
  expect(stdout).toMatch(/Nothing is wrong/);
});

test("[W4] what is wrong has figures and a remedy, and exit code 1", () => {
  const memoryDisk = findings("--object-store-memory", "16 MiB", "--local-directory", "/dev/shm");
  expect(memoryDisk.status).toBe(1);
  expect(memoryDisk.of("spilling to /dev/shm")).toMatchObject({
    state: "wrong",
    text: expect.stringMatching(/free, tmpfs$/),
    remedy: expect.stringContaining("Set localDirectory to a disk"),
  });
  const settings = findings("--workers", "4", "--object-store-memory", "512 KiB");
  expect(settings.status).toBe(1);
  expect(settings.of("settings")).toMatchObject({
    state: "wrong",
    text: expect.stringContaining("too small for 4 workers"),
  });
  const { stdout } = spillway(["doctor", "--memory-limit", "banana"]);
  expect(stdout).toMatch(/not "banana"\.\s+Correct it: no session\s+starts\s+with it\./);
  expect(spillway(["doctor", "--wrong"])).toMatchObject({ status: 2, stdout: "" });
});

test("[W4] leftovers of a killed session are found, and removed by --clean", async () => {
  const directory = join(sessions.directory, "killed");
  mkdirSync(directory);
  const s = session({ workers: 1, objectStoreMemory: "16 MiB", localDirectory: directory, progress: false });
  await s
    .range(10)
    .map((row) => row)
    .materialize();
  const [name = ""] = sessionNames(sessions.stateDirectory);
  const words = ["--local-directory", directory, "--object-store-memory", "16 MiB"];
  expect(findings(...words).of("killed sessions")).toMatchObject({ state: "good" });
  const pid = supervisorPid(name);
  process.kill(pid, "SIGSTOP");
  // Stopped is not dead: it may go on.
  expect(findings(...words).of("killed sessions")).toMatchObject({ state: "good" });
  process.kill(pid, "SIGKILL");
  // This program, which would clean up, waits for the command meanwhile.
  const found = findings(...words);
  expect(found.status).toBe(1);
  expect(found.of("killed sessions")).toMatchObject({ state: "wrong", text: expect.stringContaining(name) });
  expect(findings(...words, "--clean").status).toBe(0);
  expect(findings(...words).of("killed sessions")).toMatchObject({ state: "good" });
  await s.close().catch(() => {});
});

test("[W4] versions, limits and containers that are too small", () => {
  expect(nodeVersion("v18.20.0")).toMatchObject({ state: "wrong", remedy: "Install Node 20.15 or later." });
  expect(nodeVersion("v20.14.1").state).toBe("wrong");
  expect(nodeVersion("v24.1.0")).toMatchObject({ state: "good", text: "v24.1.0" });
  const table = (files: string, size = "unlimited", space = "unlimited") =>
    `Limit                     Soft Limit           Hard Limit           Units\nMax file size             ${size}            unlimited            bytes\nMax open files            ${files}                 4096                 files\nMax address space         ${space}            unlimited            bytes\n`;
  const read = (text: string) => (path: string) => (path === "/proc/self/limits" ? text : null);
  expect(limits(read(table("256")), 2 ** 30)).toMatchObject([{ state: "wrong", text: "256 at most" }]);
  expect(
    limits(read(table("65536", "1048576", "4294967296")), 2 ** 30).map(({ subject, state }) => [subject, state]),
  ).toEqual([
    ["open files", "good"],
    ["file size", "wrong"],
    ["address space", "wrong"],
  ]);
  expect(limits(() => null, 0)).toEqual([]);
  const group = (path: string) =>
    ({
      "/proc/self/cgroup": "0::/\n",
      "/proc/self/mountinfo": "1 1 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
      "/sys/fs/cgroup/memory.max": `${256 * 2 ** 20}\n`,
    })[path] ?? null;
  expect(memory(group)).toMatchObject({
    state: "note",
    text: expect.stringMatching(/^256 MiB by a control group, of /),
  });
  expect(overcommit(() => "2\n")).toMatchObject([{ state: "note" }]);
  expect(overcommit(() => "0\n")).toEqual([]);
});

test("[O1] the memory plan: execution slots × the largest block, from the session and from info", async () => {
  const s = sessions.open({
    workers: 3,
    targetMaxBlockSize: "64 MB",
    objectStoreMemory: "600 MiB",
    memoryLimit: "2 GiB",
  });
  const plan = s.memoryPlan();
  expect(plan).toMatchObject({
    slots: 3,
    maxBlockSize: 64e6,
    expectedHeap: 192e6,
    objectStore: 600 * 2 ** 20,
    memoryLimit: 2 ** 31,
  });
  expect(String(plan)).toMatch(
    /^Expected heap memory usage: 192\.0 MB \(3 execution slots × max block size\)\nMax block size: 64\.0 MB\n/,
  );
  const words = [
    "--workers",
    "3",
    "--target-max-block-size",
    "64 MB",
    "--object-store-memory",
    "600 MiB",
    "--memory-limit",
    "2GiB",
  ];
  expect(spillway(["info", ...words]).stdout).toContain(String(plan));
  expect(JSON.parse(spillway(["info", ...words, "--json"]).stdout).memoryPlan).toEqual(
    JSON.parse(JSON.stringify(plan)),
  );
  expect(sessionNames(sessions.stateDirectory)).toHaveLength(1);
  await s.close();
});
