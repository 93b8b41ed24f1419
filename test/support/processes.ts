/** Whether a process runs: one that has ended and that nobody has asked how (a zombie) does not. */
import { readFileSync } from "node:fs";

export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}
