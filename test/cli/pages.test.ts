/** `spillway dashboard`, `profile` and `flamegraph`: on a session that runs, and on one that has ended. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { type Said, spillway, startSpillway } from "../support/command-line.ts";
import { sessionNames, testSessions } from "../support/sessions.ts";

const sessions = testSessions("cli-pages");
const s = sessions.open({ workers: 1, dashboard: 18_800 });
let running = "";
let ended = "";

beforeAll(async () => {
  const first = sessions.open({ workers: 1 });
  await first
    .range(10)
    .map((row) => row)
    .count();
  [ended = ""] = sessionNames(sessions.stateDirectory);
  await first.close();
  await s
    .range(10)
    .map((row) => row)
    .count();
  running = sessionNames(sessions.stateDirectory).find((name) => name !== ended) ?? "";
});

/** As a browser: the token of the address becomes a cookie. */
async function asked(address: string, path: string): Promise<Response> {
  const entrance = await fetch(address, { redirect: "manual" });
  await entrance.body?.cancel();
  const cookie = entrance.headers.get("set-cookie")?.split(";")[0] ?? "";
  return fetch(new URL(path, address), { headers: { cookie } });
}

/** Without holding up this program: the session's own dashboard needs nothing of it, a profile does. */
function inBackground(...words: string[]): Promise<Said> {
  return startSpillway(words).ended;
}

test("[W4] dashboard prints the address of a running session, with its token", async () => {
  const { stdout, status } = spillway(["dashboard", running]);
  expect({ status, address: stdout.trim() }).toEqual({ status: 0, address: s.dashboardUrl });
  expect(spillway(["sessions"]).stdout).toContain(s.dashboardUrl);
  expect((await asked(stdout.trim(), "/")).status).toBe(200);
});

test("[W4] of a session that has ended it serves the pages, to those with the token, until Ctrl-C", async () => {
  const serving = startSpillway(["dashboard", ended, "--port", "18900"]);
  onTestFinished(() => void serving.child.kill());
  await serving.said("Ctrl-C ends this.");
  const said = serving.out;
  const [url = ""] = said.match(/http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]+/) ?? [];
  expect(said).toContain(`Session ${ended}, as it was at its end.`);
  const refused = await fetch(url.replace(/\?.*/, ""));
  expect(refused.status).toBe(401);
  await refused.body?.cancel();
  const settings = await asked(url, "/api/settings");
  expect(await settings.json()).toContainEqual({ path: "workers", value: "1", from: "session" });
  serving.child.kill("SIGINT");
  expect(await serving.ended).toMatchObject({ status: 0, signal: null, stderr: "" });
});

test("[M8] profile asks a worker of a running session, and draws what it got; flamegraph draws any profile", async () => {
  const { stdout, status, stderr } = await inBackground("profile", running, "--worker", "1", "--seconds", "0.5");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const [path = ""] = stdout.split("\n");
  expect(path.startsWith(join(sessions.stateDirectory, running, "profiles"))).toBe(true);
  expect(stdout).toContain(`spillway flamegraph ${path}`);
  expect(JSON.parse(readFileSync(path, "utf8")).head).toBeDefined();
  const drawn = join(sessions.directory, "flame.html");
  expect(spillway(["flamegraph", path, "-o", drawn])).toMatchObject({
    status: 0,
    stdout: `${drawn}: open it in a browser.\n`,
  });
  expect(readFileSync(drawn, "utf8")).toContain("<!doctype html>");
  expect(spillway(["flamegraph", join(sessions.directory, "none.heapprofile")])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("there is no file"),
  });
  expect(existsSync(drawn)).toBe(true);
});

test("[M8] profile says which workers there are, and that a session must run", () => {
  expect(spillway(["profile", running, "--worker", "9"])).toMatchObject({
    status: 2,
    stderr: `spillway: profile: session ${running} has no worker 9. It has 1.\n`,
  });
  expect(spillway(["profile", ended, "--worker", "1"])).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/runs no more\. Profiles that it has left are in .*profiles\./),
  });
  expect(spillway(["profile", running]).stderr).toContain("required option '--worker <n>' not specified");
});
