/** What real processes have, and made-up ones where the kernel does not list children. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { gaugeOver, procGauge, type SystemFiles, systemFiles } from "../../src/memory/index.ts";
import { filesOf } from "./files.ts";

const MIB = 2 ** 20;
const started: ChildProcess[] = [];

afterEach(async () => {
  for (const child of started.splice(0)) {
    const exited = once(child, "exit");
    child.stdin?.end();
    await exited;
  }
});

/** Says "there" when it has what it shall have, and ends when its stdin does. */
async function start(program: string): Promise<number> {
  const child = spawn(process.execPath, ["-e", `${program}; process.stdin.resume()`], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  started.push(child);
  await once(child.stdout, "data");
  return child.pid ?? 0;
}

const HOLD = "globalThis.kept = Buffer.alloc(100 << 20, 1)";
const CHILD_THAT_HOLDS = `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(
  `${HOLD}; console.log("there"); process.stdin.resume()`,
)}], { stdio: ["inherit", "inherit", "inherit"] })`;

test("[M6] what a process has of its own, and what it shares", async () => {
  const idle = await start('console.log("there")');
  const holding = await start(`${HOLD}; console.log("there")`);
  const [a, b] = [procGauge.process(idle), procGauge.process(holding)];
  expect((b?.private ?? 0) - (a?.private ?? 0)).toBeGreaterThan(95 * MIB);
  expect((b?.private ?? 0) - (a?.private ?? 0)).toBeLessThan(110 * MIB);
  // Node's own program file.
  expect(a?.shared).toBeGreaterThan(10 * MIB);
  expect(a?.children).toBe(0);
});

const withoutChildren: SystemFiles = {
  ...systemFiles,
  read: (path) => (path.endsWith("/children") ? null : systemFiles.read(path)),
};

test.each([
  ["lists children", procGauge],
  ["does not list children", gaugeOver(withoutChildren)],
])("[M6] the memory of its children is a worker's, where the kernel %s", async (_, gauge) => {
  const parent = await start(CHILD_THAT_HOLDS);
  const [tree, alone] = [gauge.process(parent), gauge.process(parent, "alone")];
  expect(tree?.children).toBe(1);
  expect((tree?.private ?? 0) - (alone?.private ?? 0)).toBeGreaterThan(100 * MIB);
  expect(alone?.children).toBe(0);
});

test("[M6] so is the memory of what a thread of it has started", async () => {
  const thread = `new (require("node:worker_threads").Worker)(${JSON.stringify(CHILD_THAT_HOLDS)}, { eval: true })`;
  const parent = await start(thread);
  expect(procGauge.process(parent)?.children).toBe(1);
  expect(procGauge.process(parent)?.private).toBeGreaterThan(100 * MIB);
});

test("[M6] private memory of descendants is added up, shared memory counts once", () => {
  const gauge = gaugeOver(
    filesOf({
      "/proc/thread-self/children": "",
      "/proc/10/statm": "900 300 100 0 0 0 0\n",
      "/proc/10/task/10/children": "20 ",
      "/proc/10/task/11/children": "21 ",
      "/proc/20/statm": "900 80 60 0 0 0 0\n",
      "/proc/20/task/20/children": "30 ",
      // Has ended since it was listed: 21.
      "/proc/30/statm": "900 400 150 0 0 0 0\n",
    }),
  );
  expect(gauge.process(10)).toEqual({ private: (200 + 20 + 250) * 4096, shared: 150 * 4096, children: 2 });
});

test("[M6] a process that is not there has no figure", () => {
  expect(procGauge.process(2 ** 22 + 1)).toBeNull();
});
