/**
 * What a worker has started, ended with it: a child process of a function would else stay behind, with its memory. A
 * worker leads a session of its own (in the system's sense), which its children share; those that have left it carry
 * the worker's mark in their environment. Parents are no help here: an orphan's is no longer its own (see orphans.ts
 * for those that have neither).
 */
import { allProcesses, STAT, statFields, systemFiles } from "../memory/index.ts";
import type { WorkerId } from "../protocol/index.ts";
import { runsAsUs } from "./process-identity.ts";

/**
 * The variable that workers, and what they start, have: `<session>/<worker>`. No setting: those begin with SPILLWAY_.
 */
export const MARK = "OF_SPILLWAY_WORKER";

/**
 * Its value in the environment of a supervisor, which may itself be what a worker has started, and is nobody's to end.
 */
export const SUPERVISOR_MARK = "supervisor";

/** What a worker has, and everything that it has started. */
export function markOf(session: string, worker: WorkerId): string {
  return `${session}/${worker}`;
}

/**
 * Kills these workers and all that they have started; also where they are dead, and what they started is not. `worker`:
 * what has this one's mark; null: that of any worker of the session.
 */
export function killTrees(leaders: readonly number[], session: string, worker: WorkerId | null): void {
  const isOurs = (mark: string) =>
    worker === null ? mark.startsWith(`${session}/`) : mark === markOf(session, worker);
  // Whole groups at one go: all that can be found where there is no /proc.
  for (const leader of leaders) kill(-leader);
  for (const pid of allProcesses(systemFiles)) {
    if (leaders.includes(sessionOf(pid)) || isOurs(markIn(pid) ?? "")) kill(pid);
  }
}

/** What workers of a session that is gone have left: what has its mark, and runs as this user. */
export function killMarked(session: string): void {
  for (const pid of allProcesses(systemFiles)) if (isMarked(pid, session) && runsAsUs(pid)) kill(pid);
}

/** A worker of the session, or what one has started. */
export function isMarked(pid: number, session: string): boolean {
  return markIn(pid)?.startsWith(`${session}/`) === true;
}

export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Gone already. What may not be ended (a set-uid program) is worth a line in the log.
    if (code !== "ESRCH") process.stderr.write(`The process ${pid} of a worker cannot be ended: ${message}\n`);
  }
}

/** Its session, in the system's sense; NaN where it is gone. */
export function sessionOf(pid: number): number {
  return Number(statFields(pid, systemFiles)?.[STAT.session]);
}

/** The mark in its environment; null: it has none. */
export function markIn(pid: number): string | null {
  const environment = systemFiles.read(`/proc/${pid}/environ`) ?? "";
  const entry = environment.split("\0").find((one) => one.startsWith(`${MARK}=`));
  return entry?.slice(MARK.length + 1) ?? null;
}
