/**
 * One run: a command started in a process group of its own, watched from outside until it ends. Its last JSON line is
 * its report. Processes that it leaves running are ended and reported. Knows nothing of engines and workloads.
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
  /** Inside, the box looks as it does in a container. */
  readonly isContainer?: boolean;
  /** Counts CPU time. Not in a box, because with cgroup v2 a process is only in one group. */
  readonly countsCpu?: boolean;
}

export interface Run {
  readonly report: ProgramReport | null;
  /** Why there is no report; null if there is one. */
  readonly failure: string | null;
  /** The signal that ended the program, if any. */
  readonly signal: NodeJS.Signals | null;
  readonly tookTooLong: boolean;
  /** From the start to the program's end. */
  readonly seconds: number;
  /** From the start to the line with the report. */
  readonly secondsToReport: number;
  readonly memory: MemoryPeaks;
  /** Null: there was no box. */
  readonly box: BoxPeaks | null;
  /**
   * CPU time of the program and of all that it started, from the start to the end of the last process; null: not
   * counted.
   */
  readonly cpuSeconds: number | null;
  /** Processes that outlived the program and had to be ended. */
  readonly leftBehind: number;
}

/** Somebody pressed Ctrl-C: the run was ended and left nothing behind. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
}

/** Processes that the program has started may end this much later than the program: daemons notice a closing socket. */
const GRACE_MS = 5_000;
const LOOK_EVERY_MS = 20;
/** A daemon that was not found may keep the program's pipes open for ever. */
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
 * Waits for the program's end. A program that takes too long is ended with everything that it started. On Ctrl-C only
 * the program is ended: its engine's processes notice that, and remove their shared memory and files before they end.
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

/**
 * Waits until everything that the program started has ended. After a grace period it ends the rest, and returns how
 * many these were.
 */
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
