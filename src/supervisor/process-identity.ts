/**
 * Which process is meant: a pid alone may have been given to another one since, so it is kept together with the time
 * at which that process began.
 */
import { STAT, statFields, systemFiles } from "../memory/index.ts";

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since the system's start, as in /proc/<pid>/stat; null where there is no /proc. */
  readonly started: number | null;
}

export function isIdentity(value: unknown): value is ProcessIdentity {
  if (typeof value !== "object" || value === null) return false;
  const { pid, started } = value as Partial<Record<keyof ProcessIdentity, unknown>>;
  return Number.isInteger(pid) && Number(pid) > 1 && (started === null || Number.isInteger(started));
}

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

/** The process that is meant, and surely: it began then, and runs as this user. */
export function isOurProcess({ pid, started }: ProcessIdentity): boolean {
  return started !== null && startTime(pid) === started && runsAsUs(pid);
}

/** By all of its ids: real, effective, saved. */
export function runsAsUs(pid: number): boolean {
  const status = systemFiles.read(`/proc/${pid}/status`) ?? "";
  const ids = /^Uid:\s+(\d+)\s+(\d+)\s+(\d+)/m.exec(status)?.slice(1);
  return ids?.every((id) => Number(id) === process.geteuid?.()) === true;
}

/** Null also for a zombie, which has ended while its parent has not asked how, and where there is no /proc. */
function startTime(pid: number): number | null {
  const fields = statFields(pid, systemFiles);
  return fields === null || fields[STAT.state] === "Z" ? null : Number(fields[STAT.startTime]);
}
