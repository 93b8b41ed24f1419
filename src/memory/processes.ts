/**
 * Processes as /proc shows them: all of them, the children of one, and the figures of `stat`. Measures no memory, ends
 * no process.
 */
import type { SystemFiles } from "./system-files.ts";

/** The pids of all processes; empty where there is no /proc (macOS). */
export function allProcesses(files: SystemFiles): readonly number[] {
  return numbers(files.list("/proc"));
}

/** Whether the system lists the children of a process, which depends on how it was built (CONFIG_PROC_CHILDREN). */
export function listsChildren(files: SystemFiles): boolean {
  return files.read("/proc/thread-self/children") !== null;
}

/** The children of all threads of a process: each child belongs to the thread that started it. */
export function childrenOf(pid: number, files: SystemFiles): readonly number[] {
  return files
    .list(`/proc/${pid}/task`)
    .flatMap((thread) => numbers((files.read(`/proc/${pid}/task/${thread}/children`) ?? "").split(/\s/)));
}

/** Positions in the answer of `statFields`. */
export const STAT = { state: 0, parent: 1, session: 3, startTime: 19 } as const;

/**
 * The fields of `stat` after the program's name, which may itself contain spaces and parentheses. Null: there is no
 * such process.
 */
export function statFields(pid: number, files: SystemFiles): readonly string[] | null {
  const stat = files.read(`/proc/${pid}/stat`);
  return stat === null ? null : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function numbers(texts: readonly string[]): number[] {
  return texts.filter((text) => /^\d+$/.test(text)).map(Number);
}
