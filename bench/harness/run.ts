/**
 * One run: a command started in a process group of its own, watched from outside until it ends, its last JSON line taken
 * as its report. Whatever it leaves running is ended and told. Knows nothing of engines and workloads.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Bytes, ProgramReport } from "../workload.ts";
import { type Box, makeBox } from "./box.ts";
import { type MemoryPeaks, MemoryWatch } from "./memory.ts";
import { isAlive, type ProcessId } from "./processes.ts";

export interface RunOptions {
  readonly command: readonly string[];
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutSeconds: number;
  readonly box: Bytes | null;
}

export interface Run {
  readonly report: ProgramReport | null;
  /** Why there is no report; null when there is one. */
  readonly failure: string | null;
  /** From the spawn to the report's line. */
  readonly secondsToReport: number;
  readonly memory: MemoryPeaks;
  /** Processes that outlived the program and had to be ended. */
  readonly leftBehind: number;
}

/** What a program starts may take this long to end after it: daemons are told by a closing socket. */
const GRACE_MS = 5_000;
const PIPES_MS = 1_000;
const STDERR_KEPT = 4_000;

export async function run(options: RunOptions): Promise<Run> {
  const box = options.box === null ? null : await makeBox(options.box);
  try {
    return await runIn(box, options);
  } finally {
    await box?.remove();
  }
}

async function runIn(box: Box | null, options: RunOptions): Promise<Run> {
  const [file, ...args] = box === null ? options.command : box.enter(options.command);
  if (file === undefined) {
    throw new Error("A run needs a command.");
  }
  const begin = performance.now();
  const child = spawn(file, args, {
    cwd: options.directory,
    env: options.env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let report: ProgramReport | null = null;
  let secondsToReport = 0;
  let line = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (line + chunk).split("\n");
    line = lines.pop() ?? "";
    for (const text of lines) {
      const found = parseReport(text);
      if (found !== null) {
        report = found;
        secondsToReport = (performance.now() - begin) / 1000;
      }
    }
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr = (stderr + chunk).slice(-STDERR_KEPT);
  });
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const closed = once(child, "close");
  await once(child, "spawn");
  const watch = new MemoryWatch(child.pid ?? 0);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    endAll(watch.alive());
  }, options.timeoutSeconds * 1000);
  const [code, signal] = await exited;
  clearTimeout(timer);
  const leftBehind = await waitForTheRest(watch);
  // A daemon that hid from the watch may hold the pipes open for ever.
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, PIPES_MS))]);
  child.stdout.destroy();
  child.stderr.destroy();
  const memory = watch.stop();
  const failure = timedOut
    ? `no end in ${options.timeoutSeconds} s`
    : report !== null && code === 0
      ? null
      : await describeFailure(code, signal, stderr, box);
  return { report: failure === null ? report : null, failure, secondsToReport, memory, leftBehind };
}

function parseReport(line: string): ProgramReport | null {
  if (!line.startsWith("{")) {
    return null;
  }
  try {
    const value = JSON.parse(line) as Partial<ProgramReport>;
    return typeof value.seconds === "number" && value.answer !== undefined
      ? { seconds: value.seconds, startup: value.startup ?? 0, answer: value.answer }
      : null;
  } catch {
    return null; // a line of the engine's own chatter
  }
}

/** Waits until everything that the program started has ended, and ends what has not after a grace; says how many. */
async function waitForTheRest(watch: MemoryWatch): Promise<number> {
  const deadline = performance.now() + GRACE_MS;
  while (watch.alive().length > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const left = watch.alive();
  endAll(left);
  while (left.some(isAlive)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return left.length;
}

function endAll(processes: readonly ProcessId[]): void {
  for (const { pid } of processes.filter(isAlive)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") {
        throw error;
      }
    }
  }
}

async function describeFailure(
  code: number | null,
  signal: NodeJS.Signals | null,
  stderr: string,
  box: Box | null,
): Promise<string> {
  const kills = box === null ? 0 : await box.kills();
  const how = kills > 0 ? `${kills} processes killed by the box` : `ended with ${signal ?? `code ${code}`}`;
  const reason = reasonIn(stderr);
  return reason === "" ? how : `${how}: ${reason}`;
}

/** Node prints the error above its stack, Python below it: the last line that names one, else the last line at all. */
function reasonIn(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  return lines.findLast((line) => /^[\w.]*(Error|Exception)\b/.test(line)) ?? lines.at(-1) ?? "";
}
