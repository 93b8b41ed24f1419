/**
 * What a worker has started, ended with it: a child process of a function would else stay behind, with its memory. A worker leads
 * a session of its own (in the system's sense), which its children share; those that have left it carry the worker's mark in
 * their environment. Parents are no help: an orphan's is no longer its own.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { WorkerId } from "../protocol/index.ts";

/** The variable that workers, and what they start, have: `<session>/<worker>`. No setting: those begin with SPILLWAY_. */
export const MARK = "OF_SPILLWAY_WORKER";

/** The 6th field of /proc/<pid>/stat; the 2nd is a name in brackets, which may hold anything. */
const SESSION_AFTER_NAME = 3;

/** What everything has that the workers of a session have started, or one of them. */
export function markOf(session: string, worker: WorkerId | null): string {
  return worker === null ? `${session}/` : `${session}/${worker}\0`;
}

/** Kills these workers and all that they have started; also where they are dead, and what they started is not. */
export function killTrees(leaders: readonly number[], mark: string): void {
  // Whole groups at one go, also where there is no /proc.
  for (const leader of leaders) kill(-leader);
  for (const pid of processes()) {
    if (leaders.includes(sessionOf(pid)) || isMarked(pid, `${MARK}=${mark}`)) kill(pid);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Gone already. What may not be ended (a set-uid program) is worth a line in the log.
    if (code !== "ESRCH") process.stderr.write(`The process ${pid}, of a worker, cannot be ended: ${message}\n`);
  }
}

function processes(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    // No /proc (macOS): the group is all that can be found.
    return [];
  }
}

function sessionOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`) ?? "";
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[SESSION_AFTER_NAME]);
}

function isMarked(pid: number, entry: string): boolean {
  const environment = read(`/proc/${pid}/environ`);
  return environment !== null && `\0${environment}\0`.includes(`\0${entry}`);
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // Ended meanwhile, or somebody else's.
    return null;
  }
}
