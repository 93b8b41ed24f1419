/**
 * Starts the supervisor's process and waits until it listens. Whatever goes wrong on the way, the process is ended,
 * what it made is removed, and the error says why.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fromWire, OptionError, SessionClosedError, type WireError } from "../errors/index.ts";
import { makeDirectory } from "../files/index.ts";
import { supervisorProgram } from "../place/index.ts";
import type { Milliseconds } from "../protocol/index.ts";
import { MARK, type Ready, SUPERVISOR_LOG, SUPERVISOR_MARK, type SupervisorOptions } from "../supervisor/index.ts";

export interface SupervisorProcess {
  /** The session's, with the socket in it. */
  readonly directory: string;
  /** For who cannot use it after all: comes back when the process is gone, and what it made. */
  end(): Promise<void>;
  /** It is ending by itself. */
  exited(): Promise<void>;
}

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
  program = supervisorProgram(),
  patience = START,
): Promise<SupervisorProcess> {
  const log = join(options.stateDirectory, SUPERVISOR_LOG);
  const stderr = openLog(options.stateDirectory, log);
  const child = spawn(process.execPath, [program, options.session], {
    detached: true,
    stdio: ["pipe", "pipe", stderr],
    // Inside a worker of another session, this one is not what that worker leaves behind: it cleans up after itself.
    env: { ...process.env, NODE_OPTIONS: "", [MARK]: SUPERVISOR_MARK },
  });
  closeSync(stderr);
  // Not in the command line, which everybody can read. One that has ended does not read it; that is told by its exit.
  child.stdin?.on("error", () => {});
  child.stdin?.end(JSON.stringify(options));
  let directory: string;
  try {
    ({ directory } = await ready(child, log, patience));
  } catch (error) {
    await end(child, options);
    throw error;
  } finally {
    child.stdin?.destroy();
    child.stdout?.destroy();
    child.unref();
  }
  return { directory, end: () => end(child, options), exited: () => exited(child) };
}

/** A supervisor that was killed could not clean up after itself. Its connection ends a moment before it does. */
export async function sweepAfterLoss(options: SupervisorOptions): Promise<void> {
  const { remains, sweep } = await import("../supervisor/sweep.ts");
  const { localDirectories, session } = options;
  for (let waited = 0; remains(localDirectories, session) && waited < SWEEP; waited += SWEEP_RETRY) {
    for (const local of localDirectories) sweep(local, "");
    await new Promise((resolve) => setTimeout(resolve, SWEEP_RETRY));
  }
}

function openLog(directory: string, path: string): number {
  try {
    makeDirectory(directory, 0o700);
    return openSync(path, "a", 0o600);
  } catch (error) {
    throw new OptionError(
      `session: the log directory ${directory} cannot be used: ${(error as Error).message}. ` +
        "Set XDG_STATE_HOME to a directory that can be written to.",
    );
  }
}

function ready(child: ChildProcess, log: string, patience: Milliseconds): Promise<Ready> {
  return new Promise((resolve, reject) => {
    const failed = (why: string) => {
      const tail = tailOf(log);
      reject(new SessionClosedError(`The supervisor process could not be started: ${why}. Its log (${log}):\n${tail}`));
    };
    let said = "";
    const timer = setTimeout(() => failed(`it did not answer within ${patience / 1000} s`), patience);
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
      const answer = JSON.parse(said) as Ready | WireError;
      if ("directory" in answer) resolve(answer);
      else reject(fromWire(answer));
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
  await sweepAfterLoss(options);
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
