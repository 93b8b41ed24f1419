/** Reports as files: whole, self-contained, bounded, and harmless whatever users have named their operators. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OptionError, WriteError } from "spillway";
import { expect, test } from "vitest";
import { spillway } from "../support/command-line.ts";
import { sessionNames, testSessions } from "../support/sessions.ts";
import { writeInvented } from "./synthetic.ts";

const sessions = testSessions("report");

test("[W5] session.report has the session up to this moment, while it runs and after its end", async () => {
  const s = sessions.open({ workers: 1 });
  const [running, closed] = ["running.html", "closed.html"].map((name) => join(sessions.directory, name));
  await expect(s.report(running ?? "")).rejects.toThrow("report: nothing has run in this session yet.");
  await s
    .range(1000)
    .map((row) => ({ id: row.id }))
    .takeAll();
  await s.report(running ?? "");
  const first = readFileSync(running ?? "", "utf8");
  expect(first).toContain(`<h1>Session ${sessionNames(sessions.stateDirectory)[0]}</h1>`);
  expect(first).toMatch(/Job [0-9a-f]+: finished/);
  expect(first).toMatch(/<td class="name">range-&gt;map.*?<td class="n">1<\/td><td class="n">1,000<\/td>/s);
  expect(first).toContain("slot 1: 1 runs of tasks");
  await s.range(10).count();
  await s
    .range(10)
    .map((row) => row)
    .takeAll();
  await s.close();
  await s.report(closed ?? "");
  expect(readFileSync(closed ?? "", "utf8").match(/<h3>Job [0-9a-f]+: finished/g)?.length).toBeGreaterThan(1);
  expect(readdirSync(sessions.directory).filter((name) => name.endsWith(".part"))).toEqual([]);
});

test("[W5] a path that cannot be written, and one that is none", async () => {
  const s = sessions.open({ workers: 1 });
  await s
    .range(1)
    .map((row) => row)
    .takeAll();
  const path = join(sessions.directory, "nowhere", "report.html");
  await expect(s.report(path)).rejects.toThrow(WriteError);
  const nowhere = join(sessions.directory, "nowhere");
  await expect(s.report(path)).rejects.toThrow(`${path} cannot be written: there is no directory ${nowhere}.`);
  // The temporary name says nothing to users.
  await expect(s.report(sessions.directory)).rejects.toThrow(
    new RegExp(`^${sessions.directory} cannot be written: (?!.*\\.part).*'${sessions.directory}'`),
  );
  await expect(s.report(7 as unknown as string)).rejects.toThrow(OptionError);
  await s.close();
});

const HOSTILE = "<img src=x onerror=alert(1)>\"'</style></title><script>alert(2)</script>\u001b[31m\u202e\u0007";

test("[W5] names and messages of users are text: no element, no attribute, no control character comes of them", () => {
  const invented = { operators: [HOSTILE, "plain"], workers: 2, tasks: 20, error: `${HOSTILE} in a message` };
  const directory = writeInvented(sessions.directory, "20260101T000000-1-hostile", invented);
  const path = join(sessions.directory, "hostile.html");
  expect(spillway(["report", directory, "-o", path])).toMatchObject({ status: 0, stderr: "" });
  const page = readFileSync(path, "utf8");
  expect(page).not.toMatch(/<(img|script|i>|b>session)/);
  expect([...page].filter((character) => /[\p{Cc}\u202e]/u.test(character) && character !== "\n")).toEqual([]);
  expect(page.match(/<(style|title)\b/g)?.filter((tag) => tag === "<style")).toHaveLength(1);
  expect(page).toContain("&lt;img src=x onerror=alert(1)&gt;");
  expect(page).toContain("default-src &#39;none&#39;");
  for (const command of ["memory", "oom", "sessions"]) {
    const { stdout } = spillway(command === "sessions" ? ["sessions"] : [command, directory]);
    expect([...stdout].filter((character) => /[\p{Cc}\u202e]/u.test(character) && character !== "\n")).toEqual([]);
  }
});

test("[W5] 100,000 tasks are drawn per pixel: the page stays small, has all totals, and loads nothing", () => {
  const operators = Array.from({ length: 19 }, (_, index) => `operator ${index}`);
  const invented = { operators, workers: 300, tasks: 100_000 };
  const directory = writeInvented(sessions.directory, "20260101T000000-1-many", invented);
  const path = join(sessions.directory, "many.html");
  expect(spillway(["report", directory, "-o", path])).toMatchObject({ status: 0, stderr: "" });
  const page = readFileSync(path, "utf8");
  expect(page.length).toBeLessThan(4 << 20);
  expect(page).toContain("<b>100,000</b>tasks");
  expect(page).toContain("<b>1,000,000</b>rows of results");
  expect(page).toContain("100000 runs of tasks in 300 slots, 19 operators");
  expect(page).toContain("<b>100 more slots are left out.</b>");
  expect(page).toContain("8 more operators");
  expect(page).not.toMatch(/\b(src|href)=/);
});

test("[W5] lines of the file that are no events are told as left out", () => {
  const directory = writeInvented(sessions.directory, "20260101T000000-1-torn", {
    operators: ["a"],
    workers: 1,
    tasks: 5,
  });
  const path = join(sessions.directory, "torn.html");
  const file = join(directory, "events.jsonl");
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  writeFileSync(file, `${lines.slice(0, -3).join("\n")}\n{"torn`, { mode: 0o600 });
  expect(spillway(["report", directory, "-o", path]).status).toBe(0);
  expect(readFileSync(path, "utf8")).toContain("1 lines of the event file could not be read");
});
