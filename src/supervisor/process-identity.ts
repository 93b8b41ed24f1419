/**
 * Which process is meant: a pid alone may have been given to another one since, so it is kept together with the time
 * at which that process began.
 */
import { readFileSync } from "node:fs";

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since the system's start, as in /proc/<pid>/stat; null where there is no /proc. */
  readonly started: number | null;
}

/** The 22nd field; the 2nd is the program's name in brackets, which may itself hold spaces and brackets. */
const START_TIME_AFTER_NAME = 19;

export function identify(pid: number): ProcessIdentity {
  return { pid, started: startTime(pid) };
}

export function isAlive({ pid, started }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  return started === null || startTime(pid) === started;
}

/** Null also for a zombie: it has ended, and only its parent has not asked how. */
function startTime(pid: number): number | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    // No such process, or a system without /proc: there is no time to know.
    return null;
  }
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" ? null : Number(fields[START_TIME_AFTER_NAME]);
}
