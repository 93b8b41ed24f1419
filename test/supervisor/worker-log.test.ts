/** Logs of workers that print more than anybody reads. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { WorkerId } from "../../src/protocol/index.ts";
import { EndedLogs, lastWords, ProcessLog, workerLog } from "../../src/supervisor/worker-log.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const directory = temporaryDirectory("worker-log");
const KIB = 1024;

function opened(id: number, limit: number): { log: ProcessLog; path: string } {
  const worker = id as WorkerId;
  const log = ProcessLog.open(directory, worker, limit);
  if (log === null) throw new Error("no log");
  return { log, path: workerLog(directory, worker) };
}

test("[A15] a worker's log keeps its newest lines, says what it dropped, and grows no further", () => {
  const { log, path } = opened(1, 64 * KIB);
  let line = 0;
  const print = (lines: number) => {
    for (const last = line + lines; line < last; ) writeSync(log.fd, `line ${++line}\n`);
  };
  print(100);
  log.bound();
  expect(readFileSync(path, "utf8").split("\n")[0]).toBe("line 1");
  for (let round = 0; round < 20; round++) {
    print(3000);
    log.bound();
    expect(statSync(path).size).toBeLessThanOrEqual(64 * KIB);
  }
  print(2);
  log.close();
  const [first, second = "", ...rest] = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(first).toMatch(/^\[spillway\] [\d.]+ KiB of older lines were dropped: a log has at most 64\.0 KiB\.$/);
  // Whole lines, and none is missing from there on.
  const numbers = [second, ...rest].map((text) => Number(/^line (\d+)$/.exec(text)?.[1]));
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => line - numbers.length + 1 + i));
  expect(numbers.length).toBeGreaterThan(2000);
  expect(lastWords(path).tail.endsWith(`line ${line}`)).toBe(true);
});

test("[A15] a process that prints through the descriptor it was given goes on in the same file", async () => {
  const { log, path } = opened(2, 16 * KIB);
  const script = `for (let i = 1; i <= 2000; i++) console.log("early " + i);
    process.once("SIGUSR2", () => { console.log("late"); process.exit(); });
    process.send("printed"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", log.fd, log.fd, "ipc"] });
  await once(child, "message");
  log.bound();
  expect(statSync(path).size).toBeLessThanOrEqual(16 * KIB);
  child.kill("SIGUSR2");
  await once(child, "exit");
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(lines.slice(-2)).toEqual(["early 2000", "late"]);
  expect(readFileSync(path).includes(0)).toBe(false);
  log.close();
});

test("[A15] one line that is longer than the bound does not stay for ever", () => {
  const { log, path } = opened(3, 16 * KIB);
  writeSync(log.fd, "x".repeat(100 * KIB));
  log.bound();
  expect(statSync(path).size).toBeLessThanOrEqual(16 * KIB);
  log.close();
});

test("[A15] a log that was removed is bounded on the disk as well", () => {
  const { log, path } = opened(4, 16 * KIB);
  rmSync(path);
  writeSync(log.fd, "gone\n".repeat(10_000));
  log.bound();
  expect(statSync(`/proc/self/fd/${log.fd}`).size).toBeLessThanOrEqual(16 * KIB);
  log.close();
});

test("[A15] of many workers that have ended the newest logs stay", () => {
  const ended = new EndedLogs(3);
  const paths = [5, 6, 7, 8, 9].map((id) => {
    const { log, path } = opened(id, KIB);
    log.close();
    ended.add(path);
    return path;
  });
  expect(paths.map((path) => existsSync(path))).toEqual([false, false, true, true, true]);
  expect(existsSync(join(directory, "worker-9.log"))).toBe(true);
});

test("[A15] the supervisor's own log is bounded as those of the workers are", () => {
  const path = join(directory, "supervisor.log");
  const log = ProcessLog.ofSupervisor(directory, 16 * KIB);
  for (let i = 0; i < 4000; i++) appendFileSync(path, `line ${i}\n`);
  log?.bound();
  expect(statSync(path).size).toBeLessThanOrEqual(16 * KIB);
  appendFileSync(path, "last\n");
  log?.close();
  expect(lastWords(path).tail.endsWith("line 3999\nlast")).toBe(true);
});
