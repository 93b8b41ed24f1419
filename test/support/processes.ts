/** What the system tells of processes. */
import { readFileSync } from "node:fs";

/** One that has ended and that nobody has asked how (a zombie) does not run. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}

/** How long these have waited for a core since they began, in milliseconds: on a busy machine, time that nobody here has spent. */
export function waitedForCores(pids: readonly number[]): number {
  const waited = pids.map((pid) => Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[1]) / 1e6);
  return waited.reduce((sum, one) => sum + one, 0);
}
