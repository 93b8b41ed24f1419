/** Every command and page on a session whose supervisor was killed by SIGKILL in the middle of a job. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import type { DeathCard, JobCard, OperatorCard, SessionCard, TaskStream } from "../../src/dashboard/api.ts";
import { serveSession } from "../../src/dashboard/index.ts";
import { jobStats, readSession } from "../../src/events/index.ts";
import type { JobId } from "../../src/protocol/index.ts";
import { Page } from "../dashboard/page.ts";
import { spillway } from "../support/command-line.ts";
import { lastSession, supervisorPid, testSessions } from "../support/sessions.ts";

const sessions = testSessions("killed-job");
let name = "";
let directory = "";

const file = (of: string) => join(sessions.directory, of);
const stateNow = () => readSession(directory).state;

/** The last job: it was cut off. */
function lastJob() {
  const state = stateNow();
  const job = [...state.jobs.values()].at(-1);
  if (job === undefined) throw new Error("there is no job");
  return { state, job, stats: jobStats(state, job) };
}

beforeAll(async () => {
  const s = sessions.open({ workers: 2, objectStoreMemory: "16 MiB" });
  // Held until the end: blocks in memory and on disk.
  const held = await s
    .range(60_000)
    .map((row) => ({ id: row.id, text: "x".repeat(500) }))
    .materialize();
  const marker = file("killed-once");
  const ds = s
    .range(100_000, { overrideNumBlocks: 50 })
    .map((row) => {
      const fs = process.getBuiltinModule("node:fs");
      if (row.id === 1_000 && !fs.existsSync(marker)) {
        fs.writeFileSync(marker, "");
        console.log("the last words");
        process.kill(process.pid, "SIGKILL");
      }
      const end = performance.now() + 0.5;
      while (performance.now() < end);
      return row;
    })
    .sort("id");
  const run = ds.takeAll().then(
    () => null,
    (error: unknown) => error,
  );
  name = lastSession(sessions);
  directory = join(sessions.stateDirectory, name);
  // The file is written a few times a second: what it has by now, it has for good.
  const isAtWork = () => {
    const [read, sort] = lastJob().job.operators;
    if (read === undefined || sort?.running !== 1) return false;
    return read.retries > 0 && read.tasksDone > 1 && read.running === 2 && read.soFar.rowsOut > 0;
  };
  await vi.waitFor(() => expect(isAtWork()).toBe(true), 60_000);
  process.kill(supervisorPid(name), "SIGKILL");
  expect(await run).toMatchObject({ name: "SessionClosedError" });
  held.dispose();
  await s.close();
}, 150_000);

test("[W4] sessions, memory, oom, logs and info answer", () => {
  expect(spillway(["sessions"]).stdout).toMatch(new RegExp(`^${name} +killed `, "m"));
  const memory = spillway(["memory", name]);
  expect(memory).toMatchObject({ status: 0, stderr: "" });
  expect(memory.stdout).toContain("was killed; this is its last moment");
  expect(memory.stdout).toMatch(/^range->map +\d+ +.* program$/m);
  expect(memory.stdout).toMatch(/ busy +range->map \d+$/m);
  const oom = spillway(["oom", name]);
  expect(oom).toMatchObject({ status: 0, stderr: "" });
  expect(oom.stdout).toMatch(/worker \d+ \(process \d+\) ended: signal/);
  expect(JSON.parse(spillway(["oom", name, "--json"]).stdout)).toHaveLength(1);
  expect(spillway(["logs", name])).toMatchObject({ status: 0, stdout: expect.stringContaining("the last words") });
  expect(spillway(["info"])).toMatchObject({ status: 0, stderr: "" });
});

test("[W5] the report has the job as far as it came, and says that it was cut off; [W6] so has the trace", () => {
  const { job, stats } = lastJob();
  expect(spillway(["report", name, "-o", file("killed.html")])).toMatchObject({ status: 0, stderr: "" });
  const html = readFileSync(file("killed.html"), "utf8");
  expect(html).toContain(`<h3>Job ${job.id}: cut off</h3>`);
  expect(html).toContain("killed; started");
  const [read] = stats.operators;
  expect(read).toMatchObject({ tasks: 50, tasksRunning: 2, retries: 1 });
  expect(html).toContain(`<td class="n">${read?.tasksDone} of 50, `);
  // With the rows of the tasks that ran.
  expect(read?.rowsOut.total).toBeGreaterThan((read?.tasksDone ?? 0) * 2_000);
  expect(html).toContain(`<td class="n">${read?.rowsOut.total.toLocaleString("en")}</td>`);

  expect(spillway(["trace", name, "-o", file("killed.json")])).toMatchObject({ status: 0, stderr: "" });
  const { traceEvents } = JSON.parse(readFileSync(file("killed.json"), "utf8"));
  const outcomes = traceEvents.flatMap((event: { cat?: string; args: { outcome: string; job: JobId } }) =>
    event.cat === "task" && event.args.job === job.id ? [event.args.outcome] : [],
  );
  expect(outcomes.filter((outcome: string) => outcome === "killed")).toHaveLength(1);
  // Two tasks of the function, and the sort, which is fed meanwhile.
  expect(outcomes.filter((outcome: string) => outcome === "open")).toHaveLength(3);
  expect(outcomes.filter((outcome: string) => outcome === "done")).toHaveLength(read?.tasksDone ?? -1);
});

test("[W2] the dashboard shows it from its file, with the same figures", async () => {
  const { job, stats } = lastJob();
  const served = await serveSession({ directory, live: null, port: 8787, token: "a token of this test" });
  const page = await (await Page.open(served.url)).follow();
  await expect.poll(() => page.entry<SessionCard>("session").status).toBe("killed");
  const card = page.entry<JobCard>(`job/${job.id}`);
  expect(card).toMatchObject({ outcome: "cut off", error: null });
  expect(card.endedAt).toBeGreaterThan(card.startedAt);
  const [read] = stats.operators;
  const shown = page.entry<OperatorCard>(`operator/${job.id}/${read?.id}`);
  expect([shown.rowsOut, shown.rowsIn, shown.done, shown.running]).toEqual([
    read?.rowsOut.total,
    read?.rowsIn,
    read?.tasksDone,
    2,
  ]);
  expect(await page.get<DeathCard[]>("/api/deaths")).toHaveLength(1);
  const stream = await page.get<TaskStream>(`/api/tasks?from=0&to=${stateNow().at}&width=4000`);
  expect(stream.lanes.flatMap(({ spans }) => spans.map(([, , , kind]) => kind))).toContain("killed");
  for (const path of ["/api/blocks", "/api/logs", "/api/settings", "/api/profiles", "/api/report"]) {
    expect(await page.ask(path), path).toMatchObject({ status: 200 });
  }
  expect(await page.ask(`/api/operators/${job.id}/${read?.id}`)).toMatchObject({ status: 200 });
  page.close();
  await served.close();
});
