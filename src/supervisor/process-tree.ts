/**
 * Ends everything that a worker has started together with the worker: child processes of a function would otherwise
 * stay, with their memory. A worker leads a session of its own (in the system's sense), which its children share.
 * Children that left that session have the worker's mark in their environment. Parents do not help, because an orphan
 * has lost its own (see orphans.ts for processes with neither).
 */
import { allProcesses, STAT, statFields, systemFiles } from "../memory/index.ts";
import type { WorkerId } from "../protocol/index.ts";
import { runsAsUs } from "./process-identity.ts";

/**
 * Environment variable of workers and their children: `<session>/<worker>`. Its name does not begin with SPILLWAY_,
 * because it is not a setting.
 */
export const MARK = "OF_SPILLWAY_WORKER";

/** The mark of a supervisor, which a worker of another session may have started: no session ends it. */
export const SUPERVISOR_MARK = "supervisor";

/** The mark of a worker and of everything that it has started. */
export function markOf(session: string, worker: WorkerId): string {
  return `${session}/${worker}`;
}

/**
 * Kills these workers and everything that they have started, also if the workers themselves are dead. `worker`: the
 * worker whose mark counts; null: the marks of all workers of the session.
 */
export function killTrees(leaders: readonly number[], session: string, worker: WorkerId | null): void {
  const isOurs = (mark: string) =>
    worker === null ? mark.startsWith(`${session}/`) : mark === markOf(session, worker);
  // Whole groups at once: without /proc, this is all that can be found.
  for (const leader of leaders) kill(-leader);
  for (const pid of allProcesses(systemFiles)) {
    if (leaders.includes(sessionOf(pid)) || isOurs(markIn(pid) ?? "")) kill(pid);
  }
}

/** Kills the remaining processes of a dead session: those with its mark that run as this user. */
export function killMarked(session: string): void {
  for (const pid of allProcesses(systemFiles)) if (isMarked(pid, session) && runsAsUs(pid)) kill(pid);
}

/** Whether it is a worker of the session, or started by one. */
export function isMarked(pid: number, session: string): boolean {
  return markIn(pid)?.startsWith(`${session}/`) === true;
}

export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // ESRCH: it is already gone. A process that may not be killed (a set-uid program) is logged.
    if (code !== "ESRCH") process.stderr.write(`The process ${pid} of a worker cannot be ended: ${message}\n`);
  }
}

/** The system session of a process; NaN if the process is gone. */
export function sessionOf(pid: number): number {
  return Number(statFields(pid, systemFiles)?.[STAT.session]);
}

/** The mark in its environment; null: none. */
export function markIn(pid: number): string | null {
  const environment = systemFiles.read(`/proc/${pid}/environ`) ?? "";
  const entry = environment.split("\0").find((one) => one.startsWith(`${MARK}=`));
  return entry?.slice(MARK.length + 1) ?? null;
}
