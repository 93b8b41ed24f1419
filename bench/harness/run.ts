/**
 * One run: a command started in a process group of its own, watched from outside until it ends, its last JSON line taken
 * as its report. Whatever it leaves running is ended and told. Knows nothing of engines and workloads.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Bytes, ProgramReport } from "../workload.ts";
import { type Box, type BoxPeaks, makeBox } from "./box.ts";
import { type CpuGroup, makeCpuGroup } from "./cpu-group.ts";
import { type MemoryPeaks, MemoryWatch } from "./memory.ts";
import { Output, type Program } from "./output.ts";
import { isAlive, type ProcessId } from "./processes.ts";

export interface RunOptions {
  readonly command: readonly string[];
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutSeconds: number;
  readonly box: Bytes | null;
  /** The box looks from inside as it does in a container. */
  readonly isContainer?: boolean;
  /** Counts CPU time; not in a box, because with cgroup v2 a process is in one group only. */
  readonly countsCpu?: boolean;
}

export interface Run {
  readonly report: ProgramReport | null;
  /** Why there is no report; null when there is one. */
  readonly failure: string | null;
  /** What ended the program, where a signal did. */
  readonly signal: NodeJS.Signals | null;
  readonly tookTooLong: boolean;
  /** From the spawn to the program's end. */
  readonly seconds: number;
  /** From the spawn to the report's line. */
  readonly secondsToReport: number;
  readonly memory: MemoryPeaks;
  /** Null: it had none. */
  readonly box: BoxPeaks | null;
  /** CPU time of the program and of all that it started, from the spawn to the last one's end; null: not counted. */
  readonly cpuSeconds: number | null;
  /** Processes that outlived the program and had to be ended. */
  readonly leftBehind: number;
}

/** Somebody pressed Ctrl-C: the run has been ended, nothing is left of it. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
}

/** What a program starts may take this long to end after it: daemons are told by a closing socket. */
const GRACE_MS = 5_000;
const LOOK_EVERY_MS = 20;
/** A daemon that hid from the watch may hold the program's pipes open for ever. */
const PIPES_MS = 1_000;

export async function run(options: RunOptions): Promise<Run> {
  if (options.box !== null && options.countsCpu) {
    throw new Error("A run in a box cannot count its CPU time: give it no box, or do not count.");
  }
  const box = options.box === null ? null : await makeBox(options.box);
  const cpu = options.countsCpu ? await makeCpuGroup() : null;
  try {
    return await runIn(box, cpu, options);
  } finally {
    await box?.remove();
    await cpu?.remove();
  }
}

async function runIn(box: Box | null, cpu: CpuGroup | null, options: RunOptions): Promise<Run> {
  const inBox = box?.enter(options.command, options.isContainer) ?? options.command;
  const [file = "", ...args] = cpu?.enter(inBox) ?? inBox;
  const { directory: cwd, env } = options;
  const begin = performance.now();
  const program: Program = spawn(file, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const output = new Output(program);
  const closed = new Promise((resolve) => program.once("close", resolve));
  await once(program, "spawn");
  const watch = new MemoryWatch(program.pid ?? 0);
  const boxPeaks = box?.watch() ?? null;
  const cut = await endOrCut(program, watch, options.timeoutSeconds);
  const seconds = (performance.now() - begin) / 1000;
  const leftBehind = await waitForTheRest(watch);
  await Promise.race([closed, pause(PIPES_MS)]);
  program.stdout.destroy();
  program.stderr.destroy();
  const memory = watch.stop();
  const peaks = boxPeaks === null ? null : await boxPeaks();
  const cpuSeconds = cpu === null ? null : await cpu.used();
  if (cut === "interrupted") {
    throw new InterruptedError("Interrupted.");
  }
  const failure =
    cut === "too long"
      ? `no end in ${options.timeoutSeconds} s`
      : output.report !== null && program.exitCode === 0
        ? null
        : describeFailure(program, output, peaks);
  const secondsToReport = (output.reportedAt - begin) / 1000;
  return {
    report: failure === null ? output.report : null,
    failure,
    signal: program.signalCode,
    tookTooLong: cut === "too long",
    seconds,
    secondsToReport,
    memory,
    box: peaks,
    cpuSeconds,
    leftBehind,
  };
}

/**
 * Waits for the program's end. A program that takes too long is ended with all it started. On Ctrl-C the program alone
 * is ended: its engine's processes see that, and take their shared memory and files away before they end.
 */
async function endOrCut(
  program: Program,
  watch: MemoryWatch,
  seconds: number,
): Promise<"interrupted" | "too long" | null> {
  let cut: "interrupted" | "too long" | null = null;
  const interrupt = (): void => {
    cut = "interrupted";
    program.kill("SIGKILL");
  };
  const expire = (): void => {
    cut = "too long";
    endAll(watch.alive());
  };
  const timer = setTimeout(expire, seconds * 1000);
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  if (program.exitCode === null && program.signalCode === null) {
    await once(program, "exit");
  }
  clearTimeout(timer);
  process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  return cut;
}

/** Waits until everything that the program started has ended, and ends what has not after a grace; says how many. */
async function waitForTheRest(watch: MemoryWatch): Promise<number> {
  const deadline = performance.now() + GRACE_MS;
  while (watch.alive().length > 0 && performance.now() < deadline) {
    await pause(LOOK_EVERY_MS);
  }
  const left = watch.alive();
  endAll(left);
  while (left.some(isAlive)) {
    await pause(LOOK_EVERY_MS);
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

function describeFailure(program: Program, output: Output, box: BoxPeaks | null): string {
  const kills = box?.kills ?? 0;
  const end = program.signalCode ?? `code ${program.exitCode}`;
  const how = kills > 0 ? `ended with ${end}, the box killed ${kills}` : `ended with ${end}`;
  return output.reason === "" ? how : `${how}: ${output.reason}`;
}
