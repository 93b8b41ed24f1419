/** Real processes that die in every way, under a real supervisor. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fromWire } from "../../src/errors/index.ts";
import { readRecords } from "../../src/events/index.ts";
import { noticeText } from "../../src/notices/index.ts";
import type { JobId, RecordedEvent } from "../../src/protocol/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { isRunning } from "../support/processes.ts";
import { split, TestSupervisor, testSupervisors, type Work } from "./harness.ts";

const start = testSupervisors();

function work(ending: Work["ending"], more: Partial<Work> = {}) {
  return split({ rows: 1, blocks: 0, bytes: 1, ...(ending === undefined ? {} : { ending }), ...more });
}

function events({ options }: TestSupervisor): RecordedEvent[] {
  return [...readRecords(options.stateDirectory)].flatMap((record) =>
    record === null || record.type === "snapshot" ? [] : [record],
  );
}

/** Pids of the children that fake workers have started. */
function children({ options }: TestSupervisor): number[] {
  return readdirSync(options.stateDirectory)
    .filter((name) => name.startsWith("worker-"))
    .flatMap((name) => [...readFileSync(join(options.stateDirectory, name), "utf8").matchAll(/^child (\d+)$/gm)])
    .map((found) => Number(found[1]));
}

test("[D4] deaths under a task are told apart, each with its message, its exit type, and its line in events.jsonl", async () => {
  const supervisor = await start({ workers: 1, workerHeap: 48 * 2 ** 20 });
  const died = async (ending: Work["ending"]) => {
    const spec = job(String(ending), [
      tasks(0, { kind: "splits", splits: [work(ending)] }, { maxRetries: 0, maxOomRetries: 0 }),
    ]);
    const end = await supervisor.run(spec);
    if (end.type !== "failed") throw new Error("it finished");
    return fromWire(end.error);
  };
  const exit = await died("exit");
  expect(exit).toMatchObject({ reason: "exit", exitCode: 5, signal: null, exitType: "INTENDED_USER_EXIT" });
  expect(exit.message).toMatch(
    /exited with code 5 while it ran a task\.\nExit type: INTENDED_USER_EXIT; exit code: 5; signal: none;/,
  );
  expect(exit.message).toContain("process.exit in the function");
  const segfault = await died("segfault");
  expect(segfault).toMatchObject({ reason: "native", signal: "SIGSEGV", exitType: "UNEXPECTED_SYSTEM_EXIT" });
  expect(segfault.message).toContain("crashed in native code (SIGSEGV)");
  const abort = await died("sigabrt");
  expect(abort).toMatchObject({ reason: "native", signal: "SIGABRT", exitType: "UNEXPECTED_SYSTEM_EXIT" });
  const killed = await died("abort");
  expect(killed).toMatchObject({ reason: "signal", signal: "SIGKILL", exitType: "UNEXPECTED_SYSTEM_EXIT" });
  expect(killed.message).toContain("was ended by SIGKILL, which the session had not sent");
  expect(killed.message).toContain("0 in its control group");
  const heap = await died("heap");
  expect(heap.message).toContain("JavaScript heap out of memory");
  const inFile = () => events(supervisor).filter((event) => event.type === "workerDied");
  await expect.poll(() => inFile().length).toBe(5);
  expect(inFile()).toMatchObject([
    { worker: 1, reason: "exit", exitCode: 5, operator: "op0" },
    { worker: 2, reason: "native", signal: "SIGSEGV", operator: "op0" },
    { worker: 3, reason: "native", signal: "SIGABRT", operator: "op0" },
    { worker: 4, reason: "signal", signal: "SIGKILL", operator: "op0" },
    { worker: 5, reason: "heap", signal: "SIGABRT", operator: "op0" },
  ]);
  const heard = supervisor.messages.flatMap((message) => (message.type === "event" ? [message.event] : []));
  // How much of the node the session may use depends on what this program holds.
  const told = heard.filter(({ type }) => type !== "nodeShare");
  expect(told.every(({ at }) => Math.abs(Date.parse(at) - Date.now()) < 60_000)).toBe(true);
  // The full heap is also told as a task without another attempt.
  expect(told.map(({ type }) => type)).toEqual([...Array(5).fill("workerDied"), "oomFailure"]);
});

test("[M5] what is pending is told when the session closes", async () => {
  const supervisor = await start({ workers: 1 });
  await supervisor.run(job("j", [tasks(0, { kind: "splits", splits: [work("segfault", { once: true })] })]));
  expect(supervisor.messages.some(({ type }) => type === "notice")).toBe(false);
  await supervisor.close();
  const text = noticeText((await supervisor.next("notice")).notice);
  expect(text).toMatch(
    /^0 workers \(tasks \/ actors\) killed due to memory pressure \(OOM\), 1 workers crashed due to other reasons at node \S+ over the last time period\. /,
  );
});

test("[D4] what a worker had started ends with it, however it died", async () => {
  const supervisor = await start({ workers: 1 });
  const dying = work("segfault", { once: true, children: true });
  expect((await supervisor.run(job("a", [tasks(0, { kind: "splits", splits: [dying] })]))).type).toBe("finished");
  // Two of the worker that died, two of the one that did the task then.
  const [first = 0, second = 0, third = 0, fourth = 0] = children(supervisor);
  await expect.poll(() => [first, second].some(isRunning)).toBe(false);
  expect([third, fourth].every(isRunning)).toBe(true);
  await supervisor.close();
  await expect.poll(() => [third, fourth].some(isRunning)).toBe(false);
});

test("[D4] what a worker had started ends with it also where it has cleared its environment and left the session, and its children", async () => {
  const supervisor = await start({ workers: 1 });
  const dying = work("segfault", { once: true, children: "hidden" });
  expect((await supervisor.run(job("a", [tasks(0, { kind: "splits", splits: [dying] })]))).type).toBe("finished");
  const [first = 0, second = 0, third = 0, fourth = 0] = children(supervisor);
  await expect.poll(() => [first, second].some(isRunning)).toBe(false);
  // Nor are they left as zombies.
  await expect.poll(() => [first, second].some((pid) => existsSync(`/proc/${pid}`))).toBe(false);
  expect([third, fourth].every(isRunning)).toBe(true);
  await supervisor.close();
  expect([third, fourth].some(isRunning)).toBe(false);
});

test("[A15] a worker whose log cannot be had is replaced all the same", async () => {
  const supervisor = await start({ workers: 1 });
  await supervisor.inspect("a worker is up");
  const { stateDirectory } = supervisor.options;
  rmSync(stateDirectory, { recursive: true });
  writeFileSync(stateDirectory, "in the way");
  const pids = supervisor.workerPids();
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await expect.poll(() => supervisor.workerPids().some((pid) => !pids.includes(pid))).toBe(true);
  expect((await supervisor.inspect("its successor answers")).type).toBe("inspected");
});

test("[K7] a worker that is killed from here takes what it has started with it", async () => {
  const supervisor = await start({ workers: 1 });
  const looping = work("loop", { children: true, blocks: 1 });
  supervisor.send({ type: "start", job: job("j", [tasks(0, { kind: "splits", splits: [looping] })]) });
  supervisor.send({ type: "want", job: "j" as JobId, blocks: 1 });
  supervisor.release((await supervisor.next("output")).slice);
  const pids = children(supervisor);
  expect(pids.length).toBe(2);
  expect(pids.every(isRunning)).toBe(true);
  supervisor.send({ type: "cancel", job: "j" as JobId });
  expect((await supervisor.inspect("its successor answers")).type).toBe("inspected");
  await expect.poll(() => pids.some(isRunning)).toBe(false);
});

test("[D4] what the workers of a killed supervisor had started is ended by the next session", async () => {
  const first = await TestSupervisor.start({ workers: 1 });
  const looping = work("loop", { children: true, blocks: 1 });
  first.send({ type: "start", job: job("j", [tasks(0, { kind: "splits", splits: [looping] })]) });
  first.send({ type: "want", job: "j" as JobId, blocks: 1 });
  await first.next("output");
  const pids = children(first);
  first.process.kill("SIGKILL");
  expect(pids.every(isRunning)).toBe(true);
  await start({ localDirectory: first.options.localDirectory, workers: 1 });
  await expect.poll(() => pids.some(isRunning)).toBe(false);
});
