/** Programs as processes of their own: how long they live, and what is left of them however they end. */
import { mkdirSync, readdirSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isRunning } from "../support/processes.ts";
import { runScript } from "../support/scripts.ts";
import { lastSession, leftovers, sessionNames, supervisorPid, testSessions } from "../support/sessions.ts";

const sessions = testSessions("programs");

test("[A1] the default session does not keep the program alive", async () => {
  const run = runScript(
    sessions,
    "default-session",
    `import { range } from "spillway";
     const rows = await range(1000).map((row) => ({ id: row.id * 2 })).takeAll();
     console.log("rows", rows.length);`,
  );
  const { code, output } = await run.ended;
  expect(output).toContain("rows 1000");
  expect(code).toBe(0);
  expect(await leftovers(sessions.localDirectory, sessionNames(sessions.stateDirectory))).toEqual([]);
});

test.each([
  ["iterRows", "await ds.iterRows().next();"],
  ["iterBatches", "await ds.iterBatches().next();"],
  ["iterRows of a pipeline", "await ds.window({ blocks: 1 }).repeat().iterRows().next();"],
  ["a loop that was left", "for await (const row of ds.iterRows()) if (row.id === 10) break;"],
  ["a stream", "for await (const row of ds.toNodeStream().iterator({ destroyOnReturn: false })) break;"],
  ["iterRows with a signal and a timeout", "await ds.iterRows({ signal, timeout: '1h' }).next();"],
])("[A1] a program that stops in the middle of %s ends, and cleans up", async (name, use) => {
  const run = runScript(
    sessions,
    `unfinished ${name}`,
    `import { range } from "spillway";
     const { signal } = new AbortController();
     const ds = range(1e9, { overrideNumBlocks: 100 }).map((row) => ({ id: row.id }));
     ${use}
     console.log("main is done");`,
  );
  expect(await run.ended).toEqual({ code: 0, output: "main is done\n" });
  expect(await leftovers(sessions.localDirectory, sessionNames(sessions.stateDirectory))).toEqual([]);
});

test("[A1] a program that waits for a call is alive until it is answered", async () => {
  const run = runScript(
    sessions,
    "waiting",
    `import { range } from "spillway";
     const slow = range(4).map(async (row) => {
       await new Promise((resolve) => setTimeout(resolve, 300));
       return { id: row.id };
     });
     console.log("count", await slow.count());
     for await (const row of slow.iterRows()) if (row.id === 3) console.log("row", row.id);
     console.log("held", (await slow.materialize()).numBlocks > 0);`,
  );
  expect(await run.ended).toEqual({ code: 0, output: "count 4\nrow 3\nheld true\n" });
});

test("[A1] configure works before the default session starts, and is an error after", async () => {
  const run = runScript(
    sessions,
    "configure",
    `import { configure, range } from "spillway";
     configure({ workers: 1 });
     console.log("rows", await range(10).map((row) => row).count());
     try { configure({ workers: 2 }); } catch (error) { console.log(error.name, error.message); }`,
  );
  const { output } = await run.ended;
  expect(output).toContain("rows 10");
  expect(output).toContain("OptionError");
});

const busy = `import { range } from "spillway";
  const ds = range(1e9, { overrideNumBlocks: 1000 }).map((row) => ({ id: row.id }));
  let n = 0;
  for await (const row of ds.iterRows()) if (n++ === 1000) console.log("running");`;

test.each(["SIGINT", "SIGKILL"] as const)("[A15] %s of the program leaves nothing behind", async (signal) => {
  const run = runScript(sessions, `ended-by-${signal}`, busy);
  await run.printed("running");
  process.kill(run.pid, signal);
  await run.ended;
  expect(await leftovers(sessions.localDirectory, sessionNames(sessions.stateDirectory))).toEqual([]);
});

test("[A15] what SIGKILL of program and supervisor leaves is swept by the next start", async () => {
  const run = runScript(sessions, "both-killed", busy);
  await run.printed("running");
  const name = lastSession(sessions);
  process.kill(supervisorPid(name), "SIGKILL");
  process.kill(run.pid, "SIGKILL");
  await run.ended;
  const next = sessions.open();
  await next.range(3).takeAll();
  await next.close();
  expect(await leftovers(sessions.localDirectory, [name])).toEqual([]);
});

test("[A15] so is what it had staged beside its output, and nothing else there", async () => {
  const around = join(sessions.directory, "half-written");
  mkdirSync(join(around, ".spillway-cache"), { recursive: true });
  const run = runScript(
    sessions,
    "killed-while-writing",
    `import { range } from "spillway";
     const slow = async (row) => { await new Promise((resolve) => setTimeout(resolve, row.id < 1000 ? 0 : 1e6)); return row; };
     await range(2000, { overrideNumBlocks: 2 }).map(slow).writeCsv(${JSON.stringify(join(around, "out"))});`,
  );
  onTestFinished(() => {
    if (isRunning(run.pid)) process.kill(run.pid, "SIGKILL");
  });
  const staged = () => readdirSync(around).filter((file) => /^\.spillway-[0-9a-f]{8}$/.test(file));
  await expect.poll(staged).toHaveLength(1);
  const name = lastSession(sessions);
  process.kill(supervisorPid(name), "SIGKILL");
  process.kill(run.pid, "SIGKILL");
  await run.ended;
  expect(staged()).toHaveLength(1);
  const next = sessions.open();
  await next.range(3).takeAll();
  await next.close();
  expect(readdirSync(around)).toEqual([".spillway-cache"]);
  expect(await leftovers(sessions.localDirectory, [name])).toEqual([]);
});

test("[A15] so is the old data that an overwrite had just replaced, and not what others put there", async () => {
  const around = join(sessions.directory, "half-replaced");
  const out = join(around, "out");
  mkdirSync(out, { recursive: true });
  for (let i = 0; i < 4000; i++) writeFileSync(join(out, `part-${String(i).padStart(5, "0")}-0123abcd-000.csv`), "a\n");
  const { ino } = statSync(out);
  const run = runScript(
    sessions,
    "killed-while-replacing",
    `import { range } from "spillway";
     await range(3).takeAll();
     setInterval(() => {}, 1e6);
     process.once("SIGUSR2", () => range(3).writeCsv(${JSON.stringify(out)}, { mode: "overwrite" }));
     console.log("ready");`,
  );
  onTestFinished(() => {
    if (isRunning(run.pid)) process.kill(run.pid, "SIGKILL");
  });
  await run.printed("ready");
  const name = lastSession(sessions);
  const supervisor = supervisorPid(name);
  // Between two files that it removes: without waiting, which could take longer than all of them.
  process.kill(run.pid, "SIGUSR2");
  while (statSync(out).ino === ino);
  process.kill(supervisor, "SIGKILL");
  process.kill(run.pid, "SIGKILL");
  await run.ended;
  const [old = ""] = readdirSync(around).filter((file) => file !== "out");
  expect(readdirSync(join(around, old)).length).toBeGreaterThan(0);
  const next = sessions.open();
  await next.range(3).takeAll();
  expect(readdirSync(around)).toEqual(["out"]);
  expect(await next.readCsv(out).count()).toBe(3);
  await next.close();
  expect(await leftovers(sessions.localDirectory, [name])).toEqual([]);
});

test("[R4] the store is a file in the session's directory, and the user is told", async () => {
  // More than it can ever have free, whoever else uses it meanwhile.
  const { blocks, bsize } = statfsSync("/dev/shm");
  const run = runScript(
    sessions,
    "small-shm",
    `import { session } from "spillway";
     const s = session({ workers: 1, objectStoreMemory: ${blocks * bsize + 2 ** 30} });
     console.log("rows", await s.range(100000).map((row) => ({ id: row.id, text: "row " + row.id })).count());
     console.log((await s.range(3).map((row) => row).takeAll()).length === 3 ? "read" : "lost");
     await s.close();`,
  );
  const { output } = await run.ended;
  expect(output).toContain("rows 100000");
  expect(output).toContain("read");
  expect(output).toMatch(/\/dev\/shm has .* free, less than the store's .*: the store is a file/);
  expect(await leftovers(sessions.localDirectory, sessionNames(sessions.stateDirectory))).toEqual([]);
});
