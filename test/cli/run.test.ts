/** `spillway run`: settings reach the script's sessions, its exit code and its signals come back, nothing is left. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { Page } from "../dashboard/page.ts";
import { CLI, spillway, startSpillway } from "../support/command-line.ts";
import { testSessions } from "../support/sessions.ts";
import { inTerminal } from "../support/terminal.ts";
import { root } from "../support/tools.ts";

const sessions = testSessions("cli-run");
const app = join(sessions.directory, "app");
const bare = join(sessions.directory, "bare");
const here = { cwd: app, env: { SPILLWAY_LOCAL_DIRECTORY: sessions.localDirectory } };

const PROGRAM = `
import { session } from "spillway";
const s = session({ workers: 1, progress: false });
const { total } = await s.resources();
const { workers } = await s.memory();
console.log(JSON.stringify({ cpu: total.cpu, limit: workers[0]?.limit, words: process.argv.slice(2) }));
await s.close();
`;

beforeAll(() => {
  mkdirSync(join(app, "node_modules"), { recursive: true });
  mkdirSync(bare);
  symlinkSync(root, join(app, "node_modules/spillway"));
  symlinkSync(join(root, "node_modules/tsx"), join(app, "node_modules/tsx"));
  writeFileSync(join(app, "main.mts"), `${PROGRAM}const typed: number = 1;\n`);
  writeFileSync(join(app, "main.mjs"), PROGRAM);
  writeFileSync(join(bare, "main.ts"), "const typed: number = 1;\nconsole.log(typed);\n");
  writeFileSync(join(app, "code.mjs"), "process.exit(Number(process.argv[2]));\n");
  writeFileSync(join(app, "signal.mjs"), 'process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000);\n');
  writeFileSync(
    join(app, "long.mjs"),
    `import { session } from "spillway";
const s = session({ workers: 1, progress: false });
console.log((await s.range(3).map((row) => row).count()) + " rows");
setInterval(() => {}, 1000);
`,
  );
});

test("[W4] run gives a TypeScript file to the project's tsx; settings win over the code; what follows is the script's", () => {
  const words = ["--memory-limit", "600MiB", "--workers", "2", "--eager", "main.mts", "--workers", "7", "x"];
  const { stdout, stderr, status } = spillway(["run", ...words], here);
  expect(stderr).not.toContain("Error");
  expect(JSON.parse(stdout)).toEqual({ cpu: 2, limit: 600 * 2 ** 20, words: ["--workers", "7", "x"] });
  expect(status).toBe(0);
});

test("[K8] the command line is the last of the places: it wins over variables and code, and is checked like them", () => {
  const env = { ...here.env, SPILLWAY_WORKERS: "3" };
  expect(JSON.parse(spillway(["run", "main.mjs"], { ...here, env }).stdout).cpu).toBe(1);
  expect(JSON.parse(spillway(["run", "--workers=2", "main.mjs"], { ...here, env }).stdout).cpu).toBe(2);
  expect(spillway(["run", "--workers", "none", "main.mjs"], here)).toEqual({
    status: 2,
    stdout: "",
    stderr: 'spillway: --workers: workers must be a whole number, at least 1, not "none".\n',
  });
  expect(spillway(["run", "--wrkers", "2", "main.mjs"], here)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('Did you mean "workers"?'),
  });
});

test("[K8] the variable that carries the settings is of run alone, and is checked", () => {
  const spoilt = (value: string) => spillway(["info"], { env: { SPILLWAY_RUN_SETTINGS: value } });
  expect(spoilt("workers=2")).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/SPILLWAY_RUN_SETTINGS is not valid JSON: .*only `spillway run` sets it/),
  });
  expect(spoilt("[2]")).toMatchObject({ status: 2, stderr: expect.stringContaining("a JSON list of texts") });
  expect(spoilt('["--wrkers=2"]').stderr).toContain('Did you mean "workers"?');
  expect(spoilt("")).toMatchObject({ status: 0, stderr: "" });
});

test("[W4] a TypeScript file that nothing here can run is an error that says what to install", () => {
  const strips = typeof Reflect.get(process.features, "typescript") === "string";
  const { status, stdout, stderr } = spillway(["run", "main.ts"], { cwd: bare });
  if (strips) return expect({ status, stdout }).toEqual({ status: 0, stdout: "1\n" });
  expect(status).toBe(2);
  expect(stderr).toMatch(/main\.ts is TypeScript, .*npm install --save-dev tsx.*Node 22\.18/);
});

test("[W4] no such file, and a directory", () => {
  expect(spillway(["run", "none.mjs"], here)).toMatchObject({
    status: 2,
    stderr: `spillway: run: there is no file ${join(app, "none.mjs")}.\n`,
  });
  expect(spillway(["run", "."], here)).toMatchObject({ status: 2, stderr: expect.stringContaining("is no file") });
});

test("[W4] the exit code of the script, and the signal that ended it, are passed on", async () => {
  expect(spillway(["run", "code.mjs", "7"], here).status).toBe(7);
  expect(spillway(["run", "code.mjs", "0"], here).status).toBe(0);
  expect(await startSpillway(["run", "signal.mjs"], here).ended).toMatchObject({ status: null, signal: "SIGTERM" });
});

const LINK = /spillway: dashboard at (http:\/\/127\.0\.0\.1:\d+\/\?token=\w+)\r?\n/g;

test("[W4] run prints the address of the dashboard on stderr once, and it opens while the script runs", async () => {
  const running = startSpillway(["run", "--workers", "1", "long.mjs"], here);
  await running.warned("?token=");
  const page = await Page.open([...running.err.matchAll(LINK)][0]?.[1] ?? null);
  expect((await page.ask("/api/settings")).text).toContain("--workers");
  running.child.kill("SIGTERM");
  const { stdout, stderr } = await running.ended;
  expect([...stderr.matchAll(LINK)]).toHaveLength(1);
  expect(stdout).not.toContain("token");
});

test("[W4] on a terminal the session of the script prints the address, once, and with progress: false too", async () => {
  for (const settings of [["--workers", "1"], []]) {
    const { output, code } = await inTerminal([process.execPath, CLI, "run", ...settings, "main.mjs"], {
      cwd: app,
      env: { ...process.env, ...here.env },
      columns: 200,
    });
    expect(code).toBe(0);
    expect([...output.matchAll(LINK)]).toHaveLength(1);
  }
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "[W4] %s reaches the script, and its session is gone when run ends",
  async (signal) => {
    const running = startSpillway(["run", "long.mjs"], here);
    await running.said("3 rows");
    running.child.kill(signal);
    expect(await running.ended).toMatchObject({ signal });
    const told: { status: string }[] = JSON.parse(spillway(["sessions", "--json"]).stdout);
    expect(told.filter(({ status }) => status === "running")).toEqual([]);
  },
);
