import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { fromWire, WorkerDiedError } from "../../src/errors/index.ts";
import { markStaging } from "../../src/files/index.ts";
import { type FileSink, type JobId, type ProgramMessage, type ToProgram, Wire } from "../../src/protocol/index.ts";
import { sessionDirectory, socketPath } from "../../src/supervisor/index.ts";
import { job, slice, tasks } from "../simulate/plans.ts";
import { waitedForCores } from "../support/processes.ts";
import { livingWorkersOf, split, startProcess, supervisorOptions, TestSupervisor, testSupervisors } from "./harness.ts";

const start = testSupervisors();

test("[R4] blocks go from worker to worker to program through the arena", async () => {
  const supervisor = await start();
  const splits = [1, 2, 3].map(() => split({ rows: 10, blocks: 2, bytes: 5000 }));
  const spec = job("j", [
    tasks(0, { kind: "splits", splits }),
    tasks(1, { kind: "operators", operators: [0] }, { minRowsPerTask: 1 }),
  ]);
  const end = await supervisor.run(spec);
  expect(end.type).toBe("finished");
  if (end.type !== "finished") return;
  expect(end.rows).toBe(60);
  expect(supervisor.outputs(spec.id).length).toBe(6);
  expect(end.stats.operators.map(({ tasks, tasksDone, blocks }) => [tasks, tasksDone, blocks])).toEqual([
    [3, 3, 6],
    [6, 6, 6],
  ]);
  expect(end.stats.peakStoreBytes).toBeGreaterThanOrEqual(8192);
  expect(end.stats.peakWorkerMemory).toBeGreaterThan(10 * 2 ** 20);
});

test("[A15] a program that closes leaves no process, no arena, no directory", async () => {
  const supervisor = await start();
  await supervisor.run(job("j", [tasks(0, { kind: "splits", splits: [split({ rows: 1, blocks: 1, bytes: 100 })] })]));
  expect(livingWorkersOf(supervisor.options.session).length).toBe(2);
  await supervisor.close();
});

test("[A15] a program that dies takes everything with it, a worker in an endless loop too", async () => {
  const supervisor = await start();
  const staging = join(supervisor.options.localDirectory, "staging");
  const sink = fileSink(staging, join(supervisor.options.localDirectory, "out"));
  const splits = [
    split({ rows: 1, blocks: 0, bytes: 1, ending: "file" }),
    split({ rows: 1, blocks: 0, bytes: 1, ending: "loop" }),
  ];
  supervisor.send({ type: "start", job: job("j", [tasks(0, { kind: "splits", splits }, { sink })]) });
  await supervisor.next("progress", ({ stats }) => stats.operators[0]?.tasksDone === 1);
  expect(existsSync(staging)).toBe(true);
  const exited = once(supervisor.process, "exit");
  // What the kernel does to the sockets of a killed program.
  supervisor.wire.close();
  await exited;
  supervisor.assertNothingLeft();
  expect(existsSync(staging)).toBe(false);
});

test("[A15] what a killed supervisor left is swept by the next one, and nothing else", async () => {
  const first = await TestSupervisor.start();
  const { localDirectory } = first.options;
  const staging = join(localDirectory, ".spillway-0123abcd");
  mkdirSync(staging);
  markStaging(staging);
  const sink = fileSink(staging, join(localDirectory, "out"));
  const looping = split({ rows: 1, blocks: 0, bytes: 1, ending: "loop" });
  first.send({ type: "start", job: job("j", [tasks(0, { kind: "splits", splits: [looping] }, { sink })]) });
  await first.next("progress");
  const other = await start({ localDirectory });
  const exited = once(first.process, "exit");
  first.process.kill("SIGKILL");
  await exited;
  expect(existsSync(first.arena.path)).toBe(true);
  // A pid that was given to somebody else is not the supervisor of then.
  const record = join(sessionDirectory(first.options), "pids.json");
  const { supervisor, ...rest } = JSON.parse(readFileSync(record, "utf8"));
  const reused = { pid: process.pid, started: supervisor.started };
  writeFileSync(record, JSON.stringify({ ...rest, supervisor: reused }));

  const third = await start({ localDirectory });
  await expect.poll(() => existsSync(sessionDirectory(first.options))).toBe(false);
  // Killed, and about to be gone.
  await expect.poll(() => livingWorkersOf(first.options.session)).toEqual([]);
  first.assertNothingLeft();
  expect(existsSync(staging)).toBe(false);
  expect(existsSync(sessionDirectory(other.options))).toBe(true);
  expect(existsSync(third.arena.path)).toBe(true);
});

test("[A15] Ctrl-C in the program's terminal does not end the supervisor", async () => {
  const supervisor = await start();
  supervisor.process.kill("SIGINT");
  expect((await supervisor.inspect("still there?")).type).toBe("inspected");
});

test("[A15] logs of the last ten sessions stay, `latest` points to the newest", async () => {
  const options = supervisorOptions();
  const root = dirname(options.stateDirectory);
  for (let i = 10; i < 25; i++) mkdirSync(join(root, `a${i}`), { recursive: true });
  const supervisor = await start(options);
  expect(readlinkSync(join(root, "latest"))).toBe(options.session);
  const kept = readdirSync(root).filter((name) => name !== "latest");
  expect(kept.length).toBe(10);
  expect(kept).toContain("a24");
  expect(kept).toContain(options.session);
  await supervisor.inspect("a worker is up");
  await supervisor.close();
  expect(readdirSync(options.stateDirectory).sort()).toEqual([
    "events.jsonl",
    "owner.json",
    "supervisor.log",
    "worker-1.log",
    "worker-2.log",
  ]);
});

test("[A15] the logs of a session that runs stay, however many are newer", async () => {
  const first = await start();
  const root = dirname(first.options.stateDirectory);
  for (let i = 10; i < 25; i++) mkdirSync(join(root, `u${i}`));
  const second = await start({ localDirectory: first.options.localDirectory });
  expect(existsSync(first.options.stateDirectory)).toBe(true);
  expect(existsSync(second.options.stateDirectory)).toBe(true);
  expect(existsSync(join(root, "u10"))).toBe(false);
});

test("[A15] a session whose logs were removed under it goes on, and so does its log", async () => {
  const supervisor = await start({ workers: 1 });
  await supervisor.inspect("a worker is up");
  rmSync(supervisor.options.stateDirectory, { recursive: true });
  for (const pid of supervisor.workerPids()) process.kill(pid, "SIGKILL");
  const splits = [split({ rows: 1, blocks: 1, bytes: 1 })];
  const end = await supervisor.run(job("j", [tasks(0, { kind: "splits", splits })]));
  expect(end.type).toBe("finished");
  const logs = () => readdirSync(supervisor.options.stateDirectory).sort();
  await expect.poll(logs).toEqual(["events.jsonl", "worker-2.log"]);
});

test("nobody gets in without the token", async () => {
  const supervisor = await start();
  const stranger = new Wire<ToProgram, ProgramMessage>(connect(socketPath(sessionDirectory(supervisor.options))));
  const messages: ToProgram[] = [];
  stranger.onMessage((message) => messages.push(message));
  const closed = new Promise((resolve) => stranger.onClose(resolve));
  stranger.send({ type: "hello", pid: 1, token: "guess" });
  await closed;
  expect(messages).toEqual([]);
});

test("[D5] a worker killed under a task is replaced, and the task goes on where it was", async () => {
  const supervisor = await start();
  const splits = [
    split({ rows: 10, blocks: 3, bytes: 100, ending: "abort", once: true }),
    split({ rows: 1, blocks: 1, bytes: 1 }),
  ];
  const end = await supervisor.run(job("j", [tasks(0, { kind: "splits", splits })]));
  expect(end.type).toBe("finished");
  expect(end.stats.operators[0]?.retries).toBe(1);
  expect(supervisor.outputs("j" as JobId).length).toBe(4);
});

test("a worker that exits too often fails the job with its last words", async () => {
  const supervisor = await start();
  const splits = [split({ rows: 1, blocks: 0, bytes: 1, ending: "exit" })];
  const end = await supervisor.run(job("j", [tasks(0, { kind: "splits", splits }, { maxRetries: 2 })]));
  if (end.type !== "failed") throw new Error("it finished");
  const error = fromWire(end.error);
  expect(error).toBeInstanceOf(WorkerDiedError);
  expect(error).toMatchObject({ operator: "op0", exitCode: 5, signal: null, reason: "exit" });
  expect(error.message).toMatch(/op0: the worker process \d+ exited with code 5 .*after 3 attempts/);
  expect(error.message).toContain("about to exit");
  expect((await supervisor.inspect("next")).type).toBe("inspected");
});

test("[D4] the V8 heap limit is told apart, and not tried again where no worker can have more", async () => {
  const supervisor = await start({ workerHeap: 48 * 2 ** 20 });
  const splits = [split({ rows: 1, blocks: 0, bytes: 1, ending: "heap" })];
  const end = await supervisor.run(job("j", [tasks(0, { kind: "splits", splits }, { maxOomRetries: 0 })]));
  if (end.type !== "failed") throw new Error("it finished");
  const error = fromWire(end.error);
  expect(error).toMatchObject({ name: "OutOfMemoryError", reason: "heap", attempts: 1 });
  expect(error.message).toContain("heap limit of 48.0 MiB");
  expect(error.message).toContain("more memory");
  expect(end.stats.operators[0]?.retries).toBe(0);
});

test("[A10] a cancelled job frees everything; a function that never ends is ended, and its worker replaced", async () => {
  const supervisor = await start({ workers: 1 });
  const splits = [split({ rows: 1, blocks: 1, bytes: 100, ending: "loop" })];
  supervisor.send({ type: "start", job: job("j", [tasks(0, { kind: "splits", splits })]) });
  supervisor.send({ type: "want", job: "j" as JobId, blocks: 1 });
  const { slice: held } = await supervisor.next("output");
  const [looping] = supervisor.workerPids();
  supervisor.send({ type: "cancel", job: "j" as JobId });
  supervisor.release(held);
  // The only worker loops: this is answered by its successor.
  const answer = await supervisor.inspect("x");
  if (answer.type !== "inspected") throw new Error("refused");
  expect(answer.rows[0]?.pid).not.toBe(looping);
  expect(supervisor.messages.some((message) => message.type === "failed")).toBe(false);
});

test("[A14] a failing function fails the job; `maxErroredBlocks` lets so many go by", async () => {
  const supervisor = await start();
  const splits = [1, 2, 3].map((n) =>
    split({ rows: 1, blocks: 1, bytes: 10, ...(n === 2 ? { ending: "fail" as const } : {}) }),
  );
  const failing = await supervisor.run(job("a", [tasks(0, { kind: "splits", splits })]));
  if (failing.type !== "failed") throw new Error("it finished");
  expect(failing.error).toMatchObject({ name: "FunctionError", message: "boom" });
  const tolerant = await supervisor.run(job("b", [tasks(0, { kind: "splits", splits })], { maxErroredBlocks: 1 }));
  expect(tolerant.type).toBe("finished");
});

test("[A3] an error in dispose fails the job", async () => {
  const supervisor = await start();
  const splits = [split({ rows: 1, blocks: 1, bytes: 10 })];
  await supervisor.put(1);
  const operator = tasks(0, { kind: "splits", splits }, { isClass: true, name: "badDispose" });
  const end = await supervisor.run(job("j", [operator]));
  if (end.type !== "failed") throw new Error("it finished");
  expect(end.error.message).toBe("dispose threw");
});

test("workers that end at their start fail jobs with their stderr, and the session still closes", async () => {
  const supervisor = await start({ workerEnv: { FAKE_WORKER: "broken" } });
  const end = await supervisor.run(
    job("j", [tasks(0, { kind: "splits", splits: [split({ rows: 1, blocks: 0, bytes: 1 })] })]),
  );
  if (end.type !== "failed") throw new Error("it finished");
  expect(end.error.message).toMatch(/Workers cannot be started: 5 in a row.*with code 3/);
  expect(end.error.message).toContain("the fake worker is broken");
});

test("a question is asked once more when its worker dies, and then refused", async () => {
  const supervisor = await start();
  const answer = await supervisor.inspect("die");
  if (answer.type !== "refused") throw new Error("answered");
  expect(answer.error.name).toBe("WorkerDiedError");
  expect(answer.error.message).toContain("exited with code 7");
  expect(answer.error.message).toContain("after 2 attempts");
});

test("[A11] files appear when the job is done, and none when it fails", async () => {
  const supervisor = await start();
  const { localDirectory } = supervisor.options;
  const directory = join(localDirectory, "out");
  const good = [1, 2].map(() => split({ rows: 1, blocks: 0, bytes: 1, ending: "file" }));
  const bad = [...good, split({ rows: 1, blocks: 0, bytes: 1, ending: "fail" })];
  const write = (name: string, splits: typeof good, mode: FileSink["mode"]) => {
    const staging = join(localDirectory, `.staging-${name}`);
    return supervisor.run(
      job(name, [tasks(0, { kind: "splits", splits }, { sink: fileSink(staging, directory, mode) })]),
    );
  };
  expect((await write("a", bad, "error")).type).toBe("failed");
  expect(existsSync(join(localDirectory, ".staging-a"))).toBe(false);
  expect(existsSync(directory)).toBe(false);
  const end = await write("b", good, "error");
  expect(end).toMatchObject({ type: "finished", rows: 2 });
  const names = (letter: string) => [0, 1].map((task) => `part-0000${task}-${letter.repeat(8)}-000.csv`);
  const files = end.type === "finished" ? end.files : [];
  expect(files.map(({ path }) => path).sort()).toEqual(names("b").map((name) => `k=1/${name}`));
  expect(readdirSync(join(directory, "k=1")).sort()).toEqual(names("b"));
  const refused = await write("c", good, "error");
  expect(refused).toMatchObject({ type: "failed", error: { name: "WriteError" } });
  expect((await write("d", good, "append")).type).toBe("finished");
  expect(readdirSync(join(directory, "k=1")).length).toBe(4);
  expect((await write("e", good, "overwrite")).type).toBe("finished");
  expect(readdirSync(join(directory, "k=1")).sort()).toEqual(names("e"));
  expect(readdirSync(localDirectory).filter((name) => name.startsWith(".staging"))).toEqual([]);
});

test("a consumer that stops reading stops the readers within a few blocks", async () => {
  const supervisor = await start();
  const splits = Array.from({ length: 100 }, () => split({ rows: 1, blocks: 5, bytes: 100 }));
  const spec = job("j", [tasks(0, { kind: "splits", splits })]);
  supervisor.send({ type: "start", job: spec });
  supervisor.send({ type: "want", job: spec.id, blocks: 1 });
  // The bound is 6 blocks for 2 workers, and each worker may hand over one more.
  const full = await supervisor.next("progress", ({ stats }) => (stats.operators[0]?.blocks ?? 0) >= 6);
  await supervisor.inspect("a worker is found although both are held back");
  expect(full.stats.operators[0]?.blocks).toBeLessThanOrEqual(9);
  const latest = supervisor.messages.filter((message) => message.type === "progress").at(-1);
  expect(latest?.type === "progress" ? latest.stats.operators[0]?.blocks : 0).toBeLessThanOrEqual(9);
  supervisor.send({ type: "cancel", job: spec.id });
  for (const output of supervisor.outputs(spec.id)) supervisor.release(output);
});

test("[A6] a limit ends the job and cancels what feeds it", async () => {
  const supervisor = await start();
  const splits = Array.from({ length: 50 }, () => split({ rows: 10, blocks: 2, bytes: 100 }));
  const spec = job("j", [tasks(0, { kind: "splits", splits }), slice(1, [0], 5, 20)]);
  const end = await supervisor.run(spec);
  expect(end).toMatchObject({ type: "finished", rows: 20 });
  expect(supervisor.outputs(spec.id).map((one) => [one.start, one.end])).toEqual([
    [5, 10],
    [0, 10],
    [0, 5],
  ]);
  expect(end.stats.operators[0]?.tasksDone).toBeLessThan(20);
});

test("[R10] a thousand tiny tasks cost under 2 ms each, progress comes at most five times a second", async () => {
  const supervisor = await start();
  const splits = Array.from({ length: 1000 }, () => split({ rows: 1, blocks: 1, bytes: 64 }));
  await supervisor.inspect("warm");
  const all = [process.pid, supervisor.process.pid ?? 0, ...supervisor.workerPids()];
  const waitedBefore = waitedForCores(all);
  const from = performance.now();
  const end = await supervisor.run(job("j", [tasks(0, { kind: "splits", splits })]));
  const elapsed = performance.now() - from;
  expect(end).toMatchObject({ type: "finished", rows: 1000 });
  expect(elapsed - (waitedForCores(all) - waitedBefore)).toBeLessThan(2000);
  const progress = supervisor.messages.filter((message) => message.type === "progress").length;
  expect(progress).toBeLessThanOrEqual(elapsed / 200 + 1);
  expect(end.stats.operators[0]?.rowsOut).toEqual({ min: 1, max: 1, mean: 1, total: 1000 });
  process.stderr.write(
    `1000 tasks: ${elapsed.toFixed(0)} ms, supervisor ${(end.stats.peakSupervisorMemory / 2 ** 20).toFixed(0)} MiB\n`,
  );
});

test("a store smaller than the data: ranges are reused, holes punched, everything flows", async () => {
  const supervisor = await start({ capacity: 64 * 4096 });
  // Sizes that change, so that freed ranges do not fit what comes next.
  const splits = Array.from({ length: 60 }, (_, i) =>
    split({ rows: 1, blocks: 2, bytes: 4096 * (1 + ((i * 7) % 23)) }),
  );
  const end = await supervisor.run(job("j", [tasks(0, { kind: "splits", splits })]));
  expect(end).toMatchObject({ type: "finished", rows: 120 });
  expect(end.stats.peakStoreBytes).toBeLessThanOrEqual(64 * 4096);
});

test("a supervisor whose program never came ends by itself", async () => {
  const options = supervisorOptions({ parentPid: 2 ** 22 + 1 });
  const child = await startProcess(options);
  await once(child, "exit");
  expect(existsSync(sessionDirectory(options))).toBe(false);
});

function fileSink(staging: string, directory: string, mode: FileSink["mode"] = "error"): FileSink {
  return {
    kind: "files",
    format: "csv",
    staging,
    directory,
    mode,
    partitionBy: [],
    maxRowsPerFile: null,
    targetFileSize: null,
    heldBytes: 1 << 20,
    compression: null,
  };
}

test("[A15] a start that fails leaves neither arena nor directory", async () => {
  for (const more of [{ capacity: 2 ** 60 }, { session: `t${"x".repeat(100)}` }]) {
    const options = supervisorOptions(more);
    await expect(startProcess(options)).rejects.toThrow();
    await expect.poll(() => existsSync(sessionDirectory(options))).toBe(false);
    expect(existsSync(join("/dev/shm", `spillway-${options.session}`))).toBe(false);
  }
});
