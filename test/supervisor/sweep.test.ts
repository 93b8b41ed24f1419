/**
 * What the sweep believes, and what it removes: remains as a killed session leaves them, and such as a session never
 * does.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { markStaging } from "../../src/files/index.ts";
import { sessionsDirectory } from "../../src/supervisor/options.ts";
import { placeIn } from "../../src/supervisor/places.ts";
import { identify } from "../../src/supervisor/process-identity.ts";
import { MARK } from "../../src/supervisor/process-tree.ts";
import { removeStaging } from "../../src/supervisor/staged-files.ts";
import { remains, sweep } from "../../src/supervisor/sweep.ts";
import { isRunning } from "../support/processes.ts";
import { requires } from "../support/requires.ts";
import { noSecondUser, SECOND_USER } from "../support/second-user.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const directory = temporaryDirectory("sweep");
const withOthers = requires("a second user", noSecondUser);
/** No process has it. */
const DEAD = { pid: 2 ** 22 + 1, started: 1 };
const LONG_AGO = new Date("2020-01-01");
let local = "";
let root = "";

beforeEach(() => {
  local = mkdtempSync(join(directory, "local-"));
  root = sessionsDirectory(local);
});

const started: number[] = [];
afterEach(() => {
  for (const pid of started.splice(0)) if (isRunning(pid)) process.kill(pid, "SIGKILL");
});

interface Remains {
  readonly record?: object | null;
  readonly staging?: readonly string[];
}

/** A session whose supervisor was killed. */
function dead(name: string, { record = {}, staging = [] }: Remains = {}, at = root): string {
  const session = join(at, name);
  mkdirSync(session, { recursive: true, mode: 0o700 });
  const whole = { supervisor: DEAD, workers: [], arena: null, spill: [], ...record };
  if (record !== null) writeFileSync(join(session, "pids.json"), JSON.stringify(whole), { mode: 0o600 });
  writeFileSync(join(session, "staging.json"), JSON.stringify(staging), { mode: 0o600 });
  utimesSync(session, LONG_AGO, LONG_AGO);
  return session;
}

async function sleeper(mark: string | null, ids: { uid?: number } = {}): Promise<number> {
  const env = mark === null ? {} : { [MARK]: mark };
  const child = spawn("/bin/sleep", ["1000"], { stdio: "ignore", env, ...ids });
  await once(child, "spawn");
  started.push(child.pid ?? 0);
  return child.pid ?? 0;
}

function staging(name = ".spillway-0123abcd"): string {
  const path = join(mkdtempSync(join(directory, "output-")), name);
  mkdirSync(path);
  markStaging(path);
  mkdirSync(join(path, "k=1"));
  writeFileSync(join(path, "k=1", "part.csv"), "1\n");
  return path;
}

describe("[A15] what is swept", () => {
  test("a dead session with its workers, its staged files, its arena and its spill files elsewhere", async () => {
    const worker = await sleeper("dead/1");
    const child = await sleeper("dead/2");
    const elsewhere = mkdtempSync(join(directory, "local-"));
    const spill = join(dead("dead", { record: null }, sessionsDirectory(elsewhere)), "spill");
    mkdirSync(spill, { mode: 0o700 });
    const staged = staging();
    const another = staging(".spillway-89abcdef");
    const arena = `/dev/shm/spillway-dead-${process.pid}`;
    writeFileSync(arena, "", { mode: 0o600 });
    dead(`dead-${process.pid}`);
    dead("dead", { record: { workers: [identify(worker)], spill: [spill] }, staging: [staged, another] });
    expect(sweep(local, "").sort()).toEqual(["dead", `dead-${process.pid}`]);
    await expect.poll(() => [worker, child].filter(isRunning)).toEqual([]);
    expect([staged, another, arena, root, sessionsDirectory(elsewhere)].filter(existsSync)).toEqual([]);
  });

  test("also in a directory that a session had to itself, because the usual one was taken", () => {
    symlinkSync(directory, root);
    const place = placeIn(local);
    expect(place.root).not.toBe(root);
    expect(place.notice).toMatchObject({ kind: "placeTaken", why: "is a link", used: place.root });
    dead("dead", {}, place.root);
    expect(remains([local], "dead")).toBe(true);
    expect(sweep(local, "")).toEqual(["dead"]);
    expect(remains([local], "dead")).toBe(false);
    expect(readdirSync(local)).toEqual([basename(root)]);
  });
});

describe("[A15] what is left alone", () => {
  test("a process without the session's mark, or that began at another time", async () => {
    const stranger = await sleeper(null);
    const ofAnother = await sleeper("other/1");
    const later = await sleeper("dead!/1");
    const workers = [
      identify(stranger),
      identify(ofAnother),
      { pid: later, started: 1 },
      { pid: later, started: null },
      { pid: process.pid, started: null },
    ];
    dead("dead", { record: { workers } });
    expect(sweep(local, "")).toEqual(["dead"]);
    expect([stranger, ofAnother, later].every(isRunning)).toBe(true);
  });

  withOthers.test("a process of another user, whatever mark it has", async () => {
    const foreign = await sleeper("dead/1", { uid: SECOND_USER });
    dead("dead", { record: { workers: [identify(foreign)] } });
    expect(sweep(local, "")).toEqual(["dead"]);
    expect(isRunning(foreign)).toBe(true);
  });

  test("directories that are no staging directories of ours, whatever the list says", () => {
    const home = mkdtempSync(join(directory, "home-"));
    const unmarked = join(home, ".spillway-0123abcd");
    mkdirSync(unmarked);
    writeFileSync(join(unmarked, "notes.txt"), "");
    const precious = join(home, "precious");
    mkdirSync(precious);
    markStaging(precious);
    const link = join(home, ".spillway-4567abcd");
    symlinkSync(precious, link);
    const listed = [unmarked, precious, link, `${link}/../precious`, ".spillway-0123abcd", "/", home, ""];
    dead("dead", { staging: listed });
    expect(sweep(local, "")).toEqual(["dead"]);
    expect(readdirSync(home).sort()).toEqual([".spillway-0123abcd", ".spillway-4567abcd", "precious"]);
    expect(existsSync(join(unmarked, "notes.txt"))).toBe(true);
    expect(existsSync(join(precious, ".spillway-staging"))).toBe(true);
  });

  test("a directory of ours that was put in the place of a staging directory", () => {
    const staged = staging();
    const precious = join(staged, "..", "precious");
    mkdirSync(precious);
    writeFileSync(join(precious, "thesis.txt"), "");
    renameSync(staged, `${staged}.away`);
    renameSync(precious, staged);
    removeStaging(staged);
    expect(readdirSync(staged)).toEqual(["thesis.txt"]);
  });

  withOthers.test("a staging directory with a mark that somebody else has set, and one of somebody else", () => {
    const [marked, foreign] = [staging(), staging()];
    chownSync(join(marked, ".spillway-staging"), SECOND_USER, SECOND_USER);
    chownSync(foreign, SECOND_USER, SECOND_USER);
    for (const path of [marked, foreign]) removeStaging(path);
    expect([marked, foreign].map((path) => existsSync(join(path, "k=1", "part.csv")))).toEqual([true, true]);
  });

  test("spill directories that are not the session's", () => {
    const home = mkdtempSync(join(directory, "home-"));
    mkdirSync(join(home, "dead", "spill"), { recursive: true, mode: 0o700 });
    const link = join(mkdtempSync(join(directory, "local-")), basename(root));
    symlinkSync(home, link);
    const spill = [join(home, "dead", "spill"), join(link, "dead", "spill"), join(root, "..", "spill"), "dead/spill"];
    dead("dead", { record: { spill } });
    expect(sweep(local, "")).toEqual(["dead"]);
    expect(existsSync(join(home, "dead", "spill"))).toBe(true);
  });

  test("sessions behind a link, or in a directory that others may use", () => {
    mkdirSync(root, { mode: 0o700 });
    const elsewhere = mkdtempSync(join(directory, "elsewhere-"));
    dead("dead", {}, elsewhere);
    symlinkSync(join(elsewhere, "dead"), join(root, "dead"));
    const open = dead("open");
    chmodSync(open, 0o755);
    expect(sweep(local, "")).toEqual([]);
    chmodSync(open, 0o700);
    chmodSync(root, 0o711);
    expect(sweep(local, "")).toEqual([]);
    chmodSync(root, 0o700);
    expect(sweep(local, "")).toEqual(["open"]);
    expect(existsSync(join(elsewhere, "dead", "pids.json"))).toBe(true);
  });

  withOthers.test("directories and records of other users", () => {
    const foreign = dead("foreign");
    const record = join(dead("record"), "pids.json");
    chownSync(foreign, SECOND_USER, SECOND_USER);
    chownSync(record, SECOND_USER, SECOND_USER);
    // One without a record that can be believed goes by its age, as one that has none.
    expect(sweep(local, "")).toEqual(["record"]);
    expect(existsSync(foreign)).toBe(true);
    chownSync(root, SECOND_USER, SECOND_USER);
    chownSync(foreign, 0, 0);
    expect(sweep(local, "")).toEqual([]);
  });

  test("what a FIFO, a link, a second name, a huge file or half a file in place of a record would say", async () => {
    const marked = await sleeper(null);
    const session = dead("odd", { record: null });
    const path = join(session, "pids.json");
    const lie = join(directory, "lie.json");
    const workers = [identify(marked)];
    writeFileSync(lie, JSON.stringify({ supervisor: DEAD, workers, arena: null, spill: [] }), { mode: 0o600 });
    const pretend: readonly (() => void)[] = [
      () => execFileSync("mkfifo", [path]),
      () => symlinkSync(lie, path),
      () => linkSync(lie, path),
      () => writeFileSync(path, " ".repeat(5 << 20), { mode: 0o600 }),
      () => writeFileSync(path, '{"supervisor":', { mode: 0o600 }),
      () => writeFileSync(path, '{"supervisor":{"pid":"1"},"workers":"all","spill":[1]}', { mode: 0o600 }),
      () => writeFileSync(path, "null", { mode: 0o600 }),
    ];
    for (const put of pretend) {
      dead("odd", { record: null });
      put();
      // Young, as a session that is about to write its record.
      utimesSync(session, new Date(), new Date());
      expect(sweep(local, "")).toEqual([]);
      utimesSync(session, LONG_AGO, LONG_AGO);
      expect(sweep(local, "")).toEqual(["odd"]);
    }
    expect(isRunning(marked)).toBe(true);
    expect(existsSync(lie)).toBe(true);
  });
});
