/**
 * The memory of a process and all its descendants. Private memory is added up. Of shared memory the largest figure
 * counts: a child mostly shares what its parent has, and that memory must count once.
 *
 * Done for every worker every 200 ms; a worker with eleven threads and no children takes 0.1 ms.
 */
import type { Bytes, Milliseconds, ProcessMemory } from "../protocol/index.ts";
import { pageSize } from "./page-size.ts";
import { allProcesses, childrenOf, listsChildren, STAT, statFields } from "./processes.ts";
import type { SystemFiles } from "./system-files.ts";

/**
 * Where the system does not list children, a scan of all processes is reused for this long: it takes 25 µs a process.
 */
const SCAN_HOLDS: Milliseconds = 1_000;

export class ProcessTree {
  readonly #files: SystemFiles;
  readonly #now: () => Milliseconds;
  #page: Bytes | null = null;
  #lists: boolean | null = null;
  #scan: { readonly at: Milliseconds; readonly children: ReadonlyMap<number, readonly number[]> } | null = null;

  constructor(files: SystemFiles, now: () => Milliseconds = () => performance.now()) {
    this.#files = files;
    this.#now = now;
  }

  /** Memory of the process with its descendants. */
  whole(pid: number): ProcessMemory | null {
    const root = this.alone(pid);
    if (root === null) return null;
    const sum = { private: root.private, shared: root.shared, children: 0 };
    const seen = new Set([pid]);
    for (const parent of seen) {
      for (const child of this.#childrenOf(parent)) {
        if (seen.has(child)) continue;
        seen.add(child);
        const memory = this.alone(child);
        if (memory === null) continue;
        sum.private += memory.private;
        sum.shared = Math.max(sum.shared, memory.shared);
        sum.children += 1;
      }
    }
    return sum;
  }

  /**
   * RSS − SHR, and SHR. Null: there is no such process (any more). A process that has ended and was not waited for has
   * no pages.
   */
  alone(pid: number): ProcessMemory | null {
    const [, resident, shared] = (this.#files.read(`/proc/${pid}/statm`) ?? "").split(" ").map(Number);
    if (resident === undefined || shared === undefined || resident === 0) return null;
    this.#page ??= pageSize(this.#files);
    const page = this.#page;
    return { private: Math.max(0, resident - shared) * page, shared: shared * page, children: 0 };
  }

  #childrenOf(pid: number): readonly number[] {
    this.#lists ??= listsChildren(this.#files);
    return this.#lists ? childrenOf(pid, this.#files) : (this.#scanned().get(pid) ?? []);
  }

  #scanned(): ReadonlyMap<number, readonly number[]> {
    const now = this.#now();
    if (this.#scan !== null && now - this.#scan.at < SCAN_HOLDS) return this.#scan.children;
    const children = new Map<number, number[]>();
    for (const pid of allProcesses(this.#files)) {
      const parent = Number(statFields(pid, this.#files)?.[STAT.parent]);
      if (Number.isNaN(parent)) continue;
      const siblings = children.get(parent);
      if (siblings === undefined) children.set(parent, [pid]);
      else siblings.push(pid);
    }
    this.#scan = { at: now, children };
    return children;
  }
}
