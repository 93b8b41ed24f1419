/**
 * What another user of the machine can do to a session: take the place of its directory with lies about what is to be
 * swept, and read what everybody may read of its processes. The victim is whoever runs the tests, the attacker a real
 * second user.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, vi } from "vitest";
import { requires } from "../support/requires.ts";
import { asSecondUser, noSecondUser } from "../support/second-user.ts";
import { leftovers, processes, sessionNames, testSessions } from "../support/sessions.ts";

const sessions = testSessions("other-users");
const { test } = requires("a second user", noSecondUser);
const own = `spillway-${process.geteuid?.()}`;

/** Everybody may write here, as in /tmp. */
let shared = "";
const made: string[] = [];
let innocent: ChildProcess;
let precious = "";

beforeEach(async () => {
  shared = mkdtempSync(join(tmpdir(), "spillway-test-shared-"));
  made.push(shared);
  chmodSync(shared, 0o1777);
  innocent = spawn("sleep", ["1000"], { stdio: "ignore" });
  await once(innocent, "spawn");
  precious = mkdtempSync(join(sessions.directory, "precious-"));
  writeFileSync(join(precious, "thesis.txt"), "years of work");
});
afterEach(() => {
  innocent.kill("SIGKILL");
  vi.restoreAllMocks();
});
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true });
});

/**
 * What the attacker writes: a dead session of the victim's whose worker is an innocent process, and whose files are the
 * victim's.
 */
const LIES = `
  import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
  import { dirname, join } from "node:path";
  const [root, pid, ...directories] = process.argv.slice(1);
  const stat = readFileSync("/proc/" + pid + "/stat", "latin1");
  const started = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
  const session = join(root, "dead");
  mkdirSync(session, { recursive: true });
  const worker = { pid: Number(pid), started };
  const supervisor = { pid: 2 ** 22 + 1, started: 1 };
  const spill = directories.map((directory) => join(directory, "dead", "spill"));
  writeFileSync(join(session, "pids.json"), JSON.stringify({ supervisor, workers: [worker], arena: null, spill }));
  writeFileSync(join(session, "staging.json"), JSON.stringify(directories));
  chmodSync(session, 0o777);
  chmodSync(root, 0o777);`;

async function workIn(localDirectory: string | readonly string[]): Promise<string> {
  const written: string[] = [];
  const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
  const s = sessions.open({ workers: 1, localDirectory: [localDirectory].flat(), objectStoreMemory: "1 MiB" });
  const kept = await s.range(500_000).materialize();
  expect(await kept.count()).toBe(500_000);
  await s.close();
  write.mockRestore();
  return written.join("");
}

function expectUnharmed(): void {
  expect(innocent.exitCode).toBe(null);
  expect(innocent.signalCode).toBe(null);
  expect(readFileSync(join(precious, "thesis.txt"), "utf8")).toBe("years of work");
}

test("[A15] a session directory that somebody else has made is neither believed nor used, and that is said", async () => {
  const taken = join(shared, own);
  mkdirSync(join(precious, "dead"));
  writeFileSync(join(precious, "dead", "chapter.txt"), "more of it");
  await asSecondUser(LIES, taken, String(innocent.pid), precious);
  const said = await workIn(shared);
  expectUnharmed();
  expect(existsSync(join(precious, "dead", "chapter.txt"))).toBe(true);
  expect(said).toMatch(new RegExp(`${taken} belongs to user 65534.*uses ${taken}-[0-9a-f]{8} instead`));
  // Nothing of the session is there, and of its own place nothing is left.
  expect(readdirSync(taken)).toEqual(["dead"]);
  expect(readdirSync(shared)).toEqual([own]);
});

test("[A15] a link that somebody else has put in its place is not followed", async () => {
  const target = join(sessions.directory, "linked");
  mkdirSync(target, { mode: 0o700 });
  mkdirSync(join(target, "notes"), { mode: 0o700 });
  await asSecondUser(
    `import { symlinkSync } from "node:fs"; symlinkSync(process.argv[1], process.argv[2]);`,
    target,
    join(shared, own),
  );
  const said = await workIn(shared);
  expect(said).toMatch(/is a link.*instead/);
  expect(readdirSync(target)).toEqual(["notes"]);
  expect(readdirSync(shared)).toEqual([own]);
});

test("[A15] the same in the second of several local directories, where only blocks are spilled to", async () => {
  const taken = join(shared, own);
  await asSecondUser(LIES, taken, String(innocent.pid), precious);
  const said = await workIn([sessions.localDirectory, shared]);
  expectUnharmed();
  expect(said).toContain(`${taken} belongs to user 65534`);
  expect(readdirSync(taken)).toEqual(["dead"]);
  expect(readdirSync(shared)).toEqual([own]);
  expect(await leftovers(sessions.localDirectory, sessionNames(sessions.stateDirectory))).toEqual([]);
});

test("[A15] a directory of ours that others may write to is not believed either", async () => {
  const open = join(shared, own);
  mkdirSync(open);
  chmodSync(open, 0o777);
  await asSecondUser(LIES.replace(/chmodSync\(root.*/, ""), open, String(innocent.pid), precious);
  const said = await workIn(shared);
  expectUnharmed();
  expect(said).toMatch(/is open to other users \(mode 0777\).*instead/);
  expect(readdirSync(shared)).toEqual([own]);
});

test("[A15] nobody else can read options, variables of workers or the session's token", async () => {
  const secret = "hunter2-in-worker-env";
  const s = sessions.open({ workers: 1, workerEnv: { DATABASE_PASSWORD: secret } });
  // With the wide kernel.
  await s
    .range(1000)
    .map((row) => ({ id: -row.id }))
    .sort("id")
    .takeAll();
  const seen = await s.run(() => process.env.DATABASE_PASSWORD);
  expect(seen.map(({ value }) => value)).toContain(secret);
  const names = sessionNames(sessions.stateDirectory);
  const pids = processes(names).map((line) => /process (\d+)/.exec(line)?.[1] ?? "");
  expect(pids.length).toBeGreaterThanOrEqual(3);
  const lines = await asSecondUser(
    `import { readFileSync } from "node:fs";
     for (const pid of process.argv.slice(1)) console.log(readFileSync("/proc/" + pid + "/cmdline", "utf8").replaceAll("\\0", " "));`,
    ...pids,
  );
  expect(lines).toContain("supervisor/main.js");
  expect(lines).toContain("worker/main.js");
  expect(lines).not.toContain(secret);
  expect(lines).not.toContain("DATABASE_PASSWORD");
  // A token is 32 hexadecimal digits.
  expect(lines).not.toMatch(/[0-9a-f]{32}/);
  await s.close();
  const logs = names.flatMap((name) => {
    const directory = join(sessions.stateDirectory, name);
    return readdirSync(directory).map((file) => readFileSync(join(directory, file), "utf8"));
  });
  expect(logs.join("\n")).not.toContain(secret);
});

test("[A15] another user can neither list nor open what a session keeps", async () => {
  const before = process.umask(0);
  chmodSync(sessions.directory, 0o755);
  // Two sessions of one second are in no order by name.
  const earlier = new Set(sessionNames(sessions.stateDirectory));
  const s = sessions.open({ workers: 1, localDirectory: shared });
  try {
    await s.range(10).takeAll();
    const name = sessionNames(sessions.stateDirectory).find((each) => !earlier.has(each)) ?? "";
    const root = join(shared, own);
    const paths = [root, join(root, name), join(root, name, "supervisor.sock"), sessions.stateDirectory];
    const tried = await asSecondUser(
      `import { openSync, readdirSync } from "node:fs";
       import { connect } from "node:net";
       const [arena, ...paths] = process.argv.slice(1);
       const attempt = (what) => { try { what(); return "open"; } catch (error) { return error.code; } };
       console.log(attempt(() => openSync(arena, "r")), ...paths.map((path) => attempt(() => readdirSync(path))));
       connect(paths[2]).on("error", (error) => console.log(error.code)).on("connect", () => console.log("connected"));`,
      `/dev/shm/spillway-${name}`,
      ...paths,
    );
    expect(tried.trim().split(/\s+/)).toEqual(Array(6).fill("EACCES"));
  } finally {
    process.umask(before);
    chmodSync(sessions.directory, 0o700);
    await s.close();
  }
});
