/** What the system says about processes. */
import { readFileSync } from "node:fs";

/** A zombie (a process that has ended and was not waited for) does not run. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}

/**
 * How long these processes have waited for a core since they started, in milliseconds: on a busy machine this time is
 * not the session's fault.
 */
export function waitedForCores(pids: readonly number[]): number {
  const waited = pids.map((pid) => Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[1]) / 1e6);
  return waited.reduce((sum, one) => sum + one, 0);
}
