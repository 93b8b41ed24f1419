/** Sessions whose events another version of Spillway wrote: listed, and refused by all that reads their events. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { spillway } from "../support/command-line.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const stateHome = temporaryDirectory("other-version");
const started = { at: 0, type: "sessionStarted" };
const facts = { session: "s", epoch: 1e12, host: "h", pid: 1, program: 2, node: "v20", workers: 1, settings: [] };

function written(name: string, ...records: readonly object[]): string {
  const directory = join(stateHome, "spillway", name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "events.jsonl"), records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return name;
}

const none = written("20260101T000000-1-aaaaaa", { ...started, ...facts }, { at: 5, type: "sessionEnded" });
const later = written("20260102T000000-2-bbbbbb", { ...started, format: 99, ...facts });
const cut = { at: 3, session: { ...started, format: 98, ...facts }, jobs: [] };
const snapshot = written("20260103T000000-3-cccccc", { type: "snapshot", at: 3, state: cut });
const empty = written("20260104T000000-4-dddddd");

const env = { XDG_STATE_HOME: stateHome };

test("[W4] sessions lists sessions that another version wrote, and says so", () => {
  const { status: code, stdout } = spillway(["sessions"], { env });
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^${none} +ended, written by another version `, "m"));
  for (const name of [later, snapshot])
    expect(stdout).toMatch(new RegExp(`^${name} +killed, written by another version `, "m"));
  expect(stdout).toMatch(new RegExp(`^${empty} +killed +2026`, "m"));
  const told: { name: string; isReadable: boolean }[] = JSON.parse(spillway(["sessions", "--json"], { env }).stdout);
  expect(told.map(({ name, isReadable }) => [name, isReadable])).toEqual([
    [empty, true],
    [snapshot, false],
    [later, false],
    [none, false],
  ]);
});

test.each([
  [none, "no format version"],
  [later, "format version 99"],
  [snapshot, "format version 98"],
])("[W4] commands refuse session %s and name both versions", (name, version) => {
  for (const command of ["oom", "memory", "report", "trace"]) {
    const { status: code, stderr } = spillway([command, name], { env });
    expect(code).not.toBe(0);
    expect(stderr).toContain(
      `spillway: Session ${name} was written by another version of Spillway: its events have ${version}, and this version of Spillway reads format version 1. Open the session with the version of Spillway that wrote it.`,
    );
  }
});
