/** The same commands on a session that runs, one that has ended, and one whose supervisor was killed by SIGKILL. */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "spillway";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { spillway, startSpillway } from "../support/command-line.ts";
import { sessionNames, supervisorPid, testSessions } from "../support/sessions.ts";

const sessions = testSessions("cli-look");
const STATES = ["running", "ended", "killed"] as const;
const names = new Map<string, string>();
let running: Session;

/** A session with blocks in memory and on disk, and a worker that has written. */
async function work() {
  const known = new Set(sessionNames(sessions.stateDirectory));
  const s = sessions.open({ workers: 1, objectStoreMemory: "16 MiB" });
  // Held until the session ends.
  const blocks = await s
    .range(60_000)
    .map((row) => {
      if (row.id === 0) console.log("first row \u001b[31mred\u0007");
      return { id: row.id, text: "x".repeat(500) };
    })
    .materialize();
  const name = sessionNames(sessions.stateDirectory).find((one) => !known.has(one)) ?? "";
  return { s, name, blocks };
}

function named(state: string): string {
  return names.get(state) ?? "";
}

beforeAll(async () => {
  const ended = await work();
  await ended.s.close();
  const killed = await work();
  // A killed supervisor loses what it has not written yet.
  const directory = join(sessions.stateDirectory, killed.name);
  await vi.waitFor(
    () => expect(readFileSync(join(directory, "events.jsonl"), "utf8")).toContain('"jobFinished"'),
    20_000,
  );
  process.kill(supervisorPid(killed.name), "SIGKILL");
  await killed.s.close().catch(() => {});
  const last = await work();
  running = last.s;
  names.set("ended", ended.name).set("killed", killed.name).set("running", last.name);
});

test("[W4] sessions tells how each of them stands", () => {
  const { stdout } = spillway(["sessions"]);
  for (const state of STATES) expect(stdout).toMatch(new RegExp(`^${named(state)} +${state} `, "m"));
  const told: { name: string; status: string; directory: string }[] = JSON.parse(
    spillway(["sessions", "--json"]).stdout,
  );
  expect(told.map(({ name, status }) => [name, status])).toEqual(
    [...sessionNames(sessions.stateDirectory)]
      .sort()
      .reverse()
      .map((name) => [name, STATES.find((state) => named(state) === name)]),
  );
  expect(spillway(["sessions", "--names"]).stdout.trim().split("\n").sort()).toEqual([...names.values()].sort());
});

describe.each(STATES)("a session that is %s", (state) => {
  test("[M10] memory lists its blocks by operator: size, where, age and who holds them", () => {
    const { stdout, status } = spillway(["memory", named(state)]);
    expect(status).toBe(0);
    expect(stdout).toContain(state === "running" ? "running for" : state === "killed" ? "was killed" : "has ended");
    expect(stdout).toMatch(/^range->map +\d+ +[\d.]+ MiB +[\d.]+ MiB +[\d.]+ MiB +\S+ +program$/m);
    expect(stdout).toMatch(/^Store: .* of 16\.0 MiB in memory/m);
    expect(stdout).toMatch(/^Program .*supervisor .*node /m);
    expect(stdout).toMatch(/^worker +process +managed +unmanaged +recent +spilled +limit +state +task$/m);
  });

  test("[M10] its figures are exact, for programs", () => {
    const told = JSON.parse(spillway(["memory", named(state), "--json"]).stdout);
    const [group] = told.groups.filter(({ operator }: { operator: string }) => operator === "range->map");
    expect(group.bytes).toBe(group.inMemory + group.onDisk);
    expect(group.bytes).toBeGreaterThan(60_000 * 500);
    expect(group.onDisk).toBeGreaterThan(0);
    const listed: { operator: string; bytes: number; rows: number; where: string; holder: string }[] = told.blocks;
    const own = listed.filter(({ operator }) => operator === "range->map");
    expect(own.reduce((sum, { rows }) => sum + rows, 0)).toBe(60_000);
    expect(own.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(group.bytes);
    expect(own.every(({ holder }) => holder === "program")).toBe(true);
    const [largest] = spillway(["memory", named(state), "--blocks", "1"]).stdout.match(/^ +\d+ +range->map .*$/m) ?? [];
    expect(largest).toMatch(/(memory|disk) +\S+ +program$/);
  });

  test("[M9] logs has what its functions wrote; control characters do nothing to the terminal", () => {
    expect(spillway(["logs", named(state), "--worker", "1"]).stdout).toBe("first row \\e[31mred\\u0007\n");
    expect(spillway(["logs", named(state)]).stdout).toMatch(/^worker-1: first row/m);
    expect(spillway(["logs", named(state), "--find", "first"])).toMatchObject({
      status: 0,
      stdout: "worker-1: first row \\e[31mred\\u0007\n",
    });
    expect(spillway(["logs", named(state), "--find", "second"])).toMatchObject({ status: 1, stdout: "" });
    const paths = spillway(["logs", named(state), "--files"])
      .stdout.trim()
      .split("\n");
    expect(paths).toEqual(
      ["supervisor.log", "worker-1.log"].map((one) => join(sessions.stateDirectory, named(state), one)),
    );
    expect(spillway(["logs", named(state), "--worker", "9"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/has no log of worker 9\. There are those of the workers 1/),
    });
  });

  test("[M12] oom says so where nothing died", () => {
    expect(spillway(["oom", named(state)]).stdout).toContain("No worker died, and no task ran out of memory.");
    expect(JSON.parse(spillway(["oom", named(state), "--json"]).stdout)).toEqual([]);
  });

  test("[W5] report writes one file of it; [W6] trace another", () => {
    const [html, trace] = ["html", "json"].map((kind) => join(sessions.directory, `${state}.${kind}`));
    expect(spillway(["report", named(state), "-o", html ?? ""])).toMatchObject({ status: 0, stderr: "" });
    expect(spillway(["trace", named(state), "-o", trace ?? ""])).toMatchObject({ status: 0, stderr: "" });
    expect(readFileSync(html ?? "", "utf8")).toContain(`<h1>Session ${named(state)}</h1>`);
    const { traceEvents, otherData } = JSON.parse(readFileSync(trace ?? "", "utf8"));
    expect(otherData.session).toBe(named(state));
    expect(traceEvents.some(({ name }: { name: string }) => name === "range->map")).toBe(true);
    expect(traceEvents.some(({ name }: { name: string }) => name === "spill")).toBe(true);
  });
});

test("[W4] a session is found by the beginning of its name, its directory and latest", () => {
  const name = named("ended");
  const told = (wanted: string) => JSON.parse(spillway(["memory", wanted, "--json"]).stdout).session;
  expect(told(join(sessions.stateDirectory, name))).toBe(name);
  expect(told("latest")).toBe(named("running"));
  const unique = name.slice(0, -1);
  expect(told(unique)).toBe(name);
});

test("[W4] an unknown session is an error that names the nearest", () => {
  const name = named("killed");
  const { status, stderr, stdout } = spillway(["memory", `${name.slice(0, -1)}_`]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain(`Did you mean ${name}?`);
});

test("[M9] logs --follow shows what comes, and ends with the session", async () => {
  const name = named("running");
  const log = join(sessions.stateDirectory, name, "worker-1.log");
  const following = startSpillway(["logs", name, "--worker", "1", "--follow"]);
  await following.said("first row");
  appendFileSync(log, "second row\nthird");
  await following.said("second row\n");
  await running.close();
  const { stdout, status } = await following.ended;
  expect(status).toBe(0);
  expect(stdout).toBe("first row \\e[31mred\\u0007\nsecond row\nthird\n");
});
