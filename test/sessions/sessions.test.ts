/** The same answers about a running session, a closed one and one whose supervisor was killed. */
import { mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findSession, listSessions, openSession } from "../../src/sessions/index.ts";
import { identify } from "../../src/supervisor/process-identity.ts";
import { writeOwner } from "../../src/supervisor/session-files.ts";
import { lastSession, supervisorPid, testSessions } from "../support/sessions.ts";

const sessions = testSessions("known-sessions");
const root = sessions.stateDirectory;

async function rowsOf(name: string): Promise<readonly (number | null)[]> {
  const open = await openSession(findSession(name, root));
  const rows = [...open.state.jobs.values()].map((job) => job.rows);
  open.close();
  return rows;
}

test("[A15] a session is looked at while it runs and after it was closed, with the same result", async () => {
  const s = sessions.open();
  await s
    .range(100)
    .map((row) => row)
    .count();
  const name = lastSession(sessions);
  expect(findSession(undefined, root)).toMatchObject({ name, status: "running", supervisor: supervisorPid(name) });
  const live = await openSession(findSession(name, root));
  expect(live.isLive).toBe(true);
  const [before] = [...live.state.jobs.values()];
  live.close();
  await s.close();
  expect(findSession(name, root)).toMatchObject({ name, status: "ended", dashboard: null });
  const after = await openSession(findSession(name, root));
  expect(after.isLive).toBe(false);
  expect(after.state.hasEnded).toBe(true);
  expect([...after.state.jobs.values()]).toEqual([before]);
});

test("[A15] a session whose supervisor was killed is told apart, and can be read", async () => {
  const s = sessions.open();
  await s
    .range(100)
    .map((row) => row)
    .count();
  const name = lastSession(sessions);
  // What the last quarter of a second holds may be lost with the supervisor.
  await expect.poll(() => rowsInFile(name)).toHaveLength(1);
  process.kill(supervisorPid(name), "SIGKILL");
  await expect.poll(() => findSession(name, root).status).toBe("killed");
  expect(await rowsOf(name)).toHaveLength(1);
  expect((await openSession(findSession(name, root))).state.hasEnded).toBe(false);
});

async function rowsInFile(name: string): Promise<readonly (number | null)[]> {
  const open = await openSession({ ...findSession(name, root), status: "ended" });
  return [...open.state.jobs.values()].map((job) => job.rows).filter((rows) => rows !== null);
}

test("[A15] what reaches a running session is for its user alone, and gone after it", async () => {
  const s = sessions.open();
  await s
    .range(1)
    .map((row) => row)
    .count();
  const { directory } = findSession(undefined, root);
  const file = join(directory, "attach.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await s.close();
  expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
});

test("[A15] names may be cut short, be a path or latest; an unknown one gets the nearest", () => {
  const other = join(sessions.directory, "other");
  const [first, second] = ["20260101T000000-1-aaaaaa", "20260102T000000-2-bbbbbb"];
  for (const name of [first, second]) {
    mkdirSync(join(other, name), { recursive: true });
    writeFileSync(join(other, name, "events.jsonl"), "");
  }
  symlinkSync(first, join(other, "latest"));
  expect(listSessions(other).map(({ name }) => name)).toEqual([second, first]);
  expect(findSession("20260101", other)).toMatchObject({ name: first, status: "killed" });
  expect(findSession("20260101", other).startedAt?.toISOString()).toBe("2026-01-01T00:00:00.000Z");
  expect(findSession("latest", other).name).toBe(first);
  expect(findSession(join(other, "latest"), other).name).toBe(first);
  expect(findSession(join(other, second), other).name).toBe(second);
  expect(() => findSession("2026", other)).toThrow(/2 sessions have a name that begins with "2026"/);
  expect(() => findSession("20260102T000000-2-bbbbbc", other)).toThrow(`Did you mean ${second}?`);
  expect(() => findSession(other, other)).toThrow("has no logs of a session");
  expect(() => findSession("./nowhere/at-all", other)).toThrow("is no directory");
  expect(() => findSession(undefined, join(other, "none"))).toThrow("There are no sessions");
});

test("[A15] a session that is just starting is not listed yet; one whose supervisor died before its first event is", () => {
  const other = join(sessions.directory, "starting");
  const names = ["20260103T000000-3-cccccc", "20260103T000000-4-dddddd", "20260103T000000-5-eeeeee"];
  const [empty = "", begun = "", died = ""] = names.map((name) => join(other, name));
  for (const directory of [empty, begun, died]) mkdirSync(directory, { recursive: true });
  writeOwner(begun, identify(process.pid));
  writeOwner(died, { ...identify(process.pid), started: 1 });
  expect(listSessions(other).map(({ name, status }) => [name, status])).toEqual([[names[2], "killed"]]);
});
