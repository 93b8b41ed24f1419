/**
 * Starts the supervisor process and waits until it listens. If anything fails, the process is ended, its files are
 * removed, and the error says why.
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
  /** The session's directory, with the socket in it. */
  readonly directory: string;
  /** Ends a supervisor that is not used after all; resolves when the process and its files are gone. */
  end(): Promise<void>;
  /** Resolves when the process, which is ending by itself, has ended. */
  exited(): Promise<void>;
}

/** A start takes 0.2 s, on a busy machine up to twenty times that; a supervisor that needs a minute hangs. */
const START: Milliseconds = 60_000;
/** A supervisor that is asked to end may clean up for this long, then it is killed. */
const END_GRACE: Milliseconds = 2_000;
/** A killed process ends within this time, also on a busy machine, unless it hangs in a system call. */
const SWEEP: Milliseconds = 10_000;
const SWEEP_RETRY: Milliseconds = 20;
const LOG_LINES = 12;

/** `program` and `patience` are replaced in tests. */
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
    // If this program is itself a worker of another session, the mark says that that session must not clean up this
    // supervisor.
    env: { ...process.env, NODE_OPTIONS: "", [MARK]: SUPERVISOR_MARK },
  });
  closeSync(stderr);
  // On stdin, because everybody can read a command line. A process that has ended cannot read it; its exit is reported.
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

/** Removes what a killed supervisor has left. Its connection ends a moment before the process does. */
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
    // "close" instead of "exit": its last output may still be on its way at its exit.
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

/** Never throws: in a timer, an error would end the program. */
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

/** Waits for the exit, and kills the process if it takes too long. */
async function exited(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const exit = once(child, "exit");
  const timer = setTimeout(() => child.kill("SIGKILL"), END_GRACE);
  await exit;
  clearTimeout(timer);
}
