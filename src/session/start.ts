/**
 * Starts the supervisor's process and waits until it listens. Whatever goes wrong on the way, the process is ended, what it
 * made is removed, and the error says why.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fromWire, OptionError, SessionClosedError, type WireError } from "../errors/index.ts";
import { makeDirectory } from "../files/index.ts";
import type { Milliseconds } from "../protocol/index.ts";
import { type SupervisorOptions, sessionDirectory, sessionsDirectory } from "../supervisor/options.ts";
import { MARK, SUPERVISOR_MARK } from "../supervisor/process-tree.ts";

export interface SupervisorProcess {
  /** For who cannot use it after all: comes back when the process is gone, and what it made. */
  end(): Promise<void>;
  /** It is ending by itself. */
  exited(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL("../supervisor/main.js", import.meta.url));
/** It takes 0.2 s, on a busy machine twenty times that; one that has not answered within a minute will not. */
const START: Milliseconds = 60_000;
/** One that is asked to end cleans up in this time, or is killed. */
const END_GRACE: Milliseconds = 2_000;
/** One that was killed takes this long to end at most, on a busy machine too, unless it hangs in a system call. */
const SWEEP: Milliseconds = 10_000;
const SWEEP_RETRY: Milliseconds = 20;
const LOG_LINES = 12;

/** `program` and `patience`: others than a supervisor's, for tests. */
export async function startSupervisor(
  options: SupervisorOptions,
  program = PROGRAM,
  patience = START,
): Promise<SupervisorProcess> {
  const log = join(options.stateDirectory, "supervisor.log");
  const stderr = openLog(options.stateDirectory, log);
  const child = spawn(process.execPath, [program, JSON.stringify(options)], {
    detached: true,
    stdio: ["ignore", "pipe", stderr],
    // Inside a worker of another session, this one is not what that worker leaves behind: it cleans up after itself.
    env: { ...process.env, NODE_OPTIONS: "", [MARK]: SUPERVISOR_MARK },
  });
  closeSync(stderr);
  try {
    await ready(child, log, patience);
  } catch (error) {
    await end(child, options);
    throw error;
  } finally {
    child.stdout?.destroy();
    child.unref();
  }
  return { end: () => end(child, options), exited: () => exited(child) };
}

/** A supervisor that was killed could not clean up after itself. Its connection ends a moment before it does. */
export async function sweepAfterLoss(options: SupervisorOptions): Promise<void> {
  const { sweep } = await import("../supervisor/sweep.ts");
  const own = sessionDirectory(options);
  for (let waited = 0; ; waited += SWEEP_RETRY) {
    for (const local of options.localDirectories) sweep(sessionsDirectory(local), "");
    if (waited >= SWEEP || !existsSync(own)) return;
    await new Promise((resolve) => setTimeout(resolve, SWEEP_RETRY));
  }
}

function openLog(directory: string, path: string): number {
  try {
    makeDirectory(directory, 0o700);
    return openSync(path, "a", 0o600);
  } catch (error) {
    throw new OptionError(
      `session: the directory of its logs, ${directory}, cannot be used: ${(error as Error).message}. ` +
        "Set XDG_STATE_HOME to a directory that can be written to.",
    );
  }
}

function ready(child: ChildProcess, log: string, patience: Milliseconds): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (why: string) => {
      const tail = tailOf(log);
      reject(new SessionClosedError(`The supervisor process could not be started: ${why}. Its log (${log}):\n${tail}`));
    };
    let said = "";
    const timer = setTimeout(() => failed(`no sign of life within ${patience / 1000} s`), patience);
    child.once("error", (error) => {
      clearTimeout(timer);
      failed(error.message);
    });
    // Not its exit: what it said last may still be on its way then.
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      failed(`it ended with ${signal ?? `code ${code}`}`);
    });
    child.stdout?.on("data", (piece: Buffer) => {
      said += piece;
      if (!said.endsWith("\n")) return;
      clearTimeout(timer);
      child.removeAllListeners();
      if (said === "ready\n") resolve();
      else reject(fromWire(JSON.parse(said) as WireError));
    });
  });
}

/** Thrown from a timer, an error would be the program's; a log that is gone says nothing. */
function tailOf(log: string): string {
  try {
    return readFileSync(log, "utf8").trim().split("\n").slice(-LOG_LINES).join("\n");
  } catch {
    return "";
  }
}

async function end(child: ChildProcess, options: SupervisorOptions): Promise<void> {
  child.kill("SIGTERM");
  await exited(child);
  if (existsSync(sessionDirectory(options))) await sweepAfterLoss(options);
}

/** Killed where it takes too long. */
async function exited(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const exit = once(child, "exit");
  const timer = setTimeout(() => child.kill("SIGKILL"), END_GRACE);
  await exit;
  clearTimeout(timer);
}
