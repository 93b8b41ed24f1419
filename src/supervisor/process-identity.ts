/** Identifies a process by its pid and its start time, because a pid may have been given to another process since. */
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

/** Whether this process still runs, with the same start time and as this user. */
export function isOurProcess({ pid, started }: ProcessIdentity): boolean {
  return started !== null && startTime(pid) === started && runsAsUs(pid);
}

/** Compares all its user ids: real, effective, saved. */
export function runsAsUs(pid: number): boolean {
  const status = systemFiles.read(`/proc/${pid}/status`) ?? "";
  const ids = /^Uid:\s+(\d+)\s+(\d+)\s+(\d+)/m.exec(status)?.slice(1);
  return ids?.every((id) => Number(id) === process.geteuid?.()) === true;
}

/** Null also for a zombie (it has ended, but its parent has not collected its exit), and if there is no /proc. */
function startTime(pid: number): number | null {
  const fields = statFields(pid, systemFiles);
  return fields === null || fields[STAT.state] === "Z" ? null : Number(fields[STAT.startTime]);
}
