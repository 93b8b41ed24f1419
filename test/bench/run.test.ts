import { existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { differences } from "../../bench/harness/answers.ts";
import { whyNoBox } from "../../bench/harness/box.ts";
import { makeCpuGroup, whyNoCpuGroup } from "../../bench/harness/cpu-group.ts";
import { isAlive, processEntry } from "../../bench/harness/processes.ts";
import { run } from "../../bench/harness/run.ts";
import { requires } from "../support/requires.ts";

const PRINT = `const print = (o) => console.log(JSON.stringify(o));`;

function node(code: string, timeoutSeconds = 30) {
  const command = [process.execPath, "-e", `${PRINT}${code}`];
  return run({ command, env: process.env, directory: ".", timeoutSeconds, box: null });
}

test("the report is taken from among other lines", async () => {
  const done = await node(`console.log("{chatter"); print({ seconds: 2, answer: { rows: 1 } }); console.log("bye")`);
  expect(done).toMatchObject({ report: { seconds: 2, answer: { rows: 1 } }, failure: null, leftBehind: 0 });
});

test("memory of a child process is seen from outside", async () => {
  const child = `const b = Buffer.alloc(200e6, 1); setTimeout(() => process.exit(b[0] - 1), 1000)`;
  const done = await node(
    `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(child)}]).on("exit", () => print({ seconds: 1, answer: {} }))`,
  );
  const largest = Math.max(...done.memory.processes.map((process) => process.private));
  expect(done.memory.processes).toHaveLength(2);
  expect(largest).toBeGreaterThan(200e6);
  expect(largest).toBeLessThan(300e6);
  expect(done.memory.total).toBeGreaterThan(largest);
});

test("a failing program's own error is the reason", async () => {
  const done = await node(`throw new TypeError("no such column")`);
  expect(done).toMatchObject({ report: null, failure: "ended with code 1: TypeError: no such column" });
});

test("a run that does not end is ended, with its children", async () => {
  const child = `spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" })`;
  const done = await node(`const { spawn } = require("child_process"); ${child}; setInterval(() => {}, 1000)`, 1);
  expect(done.failure).toBe("no end in 1 s");
  expect(done.memory.processes).toHaveLength(2);
  for (const { pid } of done.memory.processes) {
    const entry = processEntry(pid);
    expect(entry !== null && isAlive(entry)).toBe(false);
  }
});

requires("a memory box", await whyNoBox()).test("a box kills what outgrows it, and is gone afterwards", async () => {
  const command = [process.execPath, "-e", "Buffer.alloc(400e6, 1)"];
  const done = await run({ command, env: process.env, directory: ".", timeoutSeconds: 30, box: 150e6 });
  expect(done.failure).toBe("ended with SIGKILL, the box killed 1");
  const [groups = ""] = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"].filter((path) => existsSync(path));
  const boxes = readdirSync(groups).filter((name) => name.startsWith(`spillway-box-${process.pid}-`));
  expect(boxes).toEqual([]);
});

requires("a control group that counts CPU time", await whyNoCpuGroup()).test(
  "CPU time is that of all processes, ended ones too, and the group is gone afterwards",
  async () => {
    const burn = "for (let i = 1; i % 1e7 !== 0 || process.cpuUsage().user < 400e3; i++);";
    const child = `require("child_process").spawnSync(process.execPath, ["-e", ${JSON.stringify(burn)}])`;
    const command = [process.execPath, "-e", `${PRINT}${child}; ${child}; print({ seconds: 1, answer: {} })`];
    const started = { env: process.env, directory: ".", timeoutSeconds: 60 };
    const done = await run({ command, ...started, box: null, countsCpu: true });
    expect(done.failure).toBeNull();
    expect(done.cpuSeconds).toBeGreaterThan(0.8);
    expect(done.cpuSeconds).toBeLessThan(3);
    const group = await makeCpuGroup();
    await group.remove();
    const groups = readdirSync(dirname(group.path));
    expect(groups.filter((name) => name.startsWith(`spillway-cpu-${process.pid}-`))).toEqual([]);
    await expect(run({ command, ...started, box: 150e6, countsCpu: true })).rejects.toThrow("in a box");
  },
);

test("answers agree to nine digits", () => {
  expect(differences({ rows: 3, sum: 1e9 }, { rows: 3, sum: 1e9 + 0.5 })).toEqual([]);
  expect(differences({ rows: 3, sum: 1e9 }, { rows: 3, sum: 1e9 + 5 })).toEqual(["sum: 1000000000 against 1000000005"]);
  expect(differences({ rows: 3 }, { rows: 3, sum: 1 })).toEqual(["sum: undefined against 1"]);
});

test("a command that is not there is an error that names it", async () => {
  const command = ["/no/such/program"];
  const options = { env: process.env, directory: ".", timeoutSeconds: 1, box: null };
  await expect(run({ command, ...options })).rejects.toThrow("spawn /no/such/program ENOENT");
});
