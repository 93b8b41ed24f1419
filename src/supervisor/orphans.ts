/**
 * Ends processes that workers have started and left without a parent. Linux makes the supervisor their parent, even if
 * they have a session of their own and an empty environment. On other systems there are none. An orphan's worker is
 * recognised by its mark, by its session, or by the time: an orphan that appears when a worker dies belongs to that
 * worker. An orphan that appears while all workers live, without mark or session, stays until the session ends.
 */
import { childrenOf, listsChildren, systemFiles } from "../memory/index.ts";
import type { Milliseconds, WorkerId } from "../protocol/index.ts";
import { isAlive, type ProcessIdentity } from "./process-identity.ts";
import { kill, markIn, markOf, SUPERVISOR_MARK, sessionOf } from "./process-tree.ts";

/** A killed process is gone after this time, unless it hangs in a system call. */
const END: Milliseconds = 500;
const LOOK_AGAIN: Milliseconds = 5;

/** The system calls that this needs. */
export interface Adoption {
  /** Makes this process the parent of orphans. */
  adoptOrphans(): void;
  /** Collects the exit of a child; false: it has not ended. */
  reap(pid: number): boolean;
}

export interface LivingWorker {
  readonly worker: WorkerId;
  readonly identity: ProcessIdentity;
}

export class Orphans {
  readonly #session: string;
  readonly #workers: () => readonly LivingWorker[];
  readonly #others: () => readonly number[];
  #system: Adoption | null = null;
  /** Orphans that appeared while all workers were alive. */
  readonly #earlier = new Set<number>();
  /** Killed, but not gone yet. */
  readonly #doomed = new Set<number>();
  readonly #onChild = () => this.#reap();

  /**
   * `workers`: workers whose end has not been reported; Node itself collects their exits, and those of `others`, which
   * this process has started, too.
   */
  constructor(session: string, workers: () => readonly LivingWorker[], others: () => readonly number[]) {
    this.#session = session;
    this.#workers = workers;
    this.#others = others;
  }

  adopt(system: Adoption): void {
    // If the system does not list children, exits could not be collected, and every orphan would stay as a zombie.
    if (!listsChildren(systemFiles)) return;
    system.adoptOrphans();
    this.#system = system;
    process.on("SIGCHLD", this.#onChild);
  }

  /** Called now and then: orphans that are already here do not belong to the next worker that dies. */
  look(): void {
    const here = this.#here();
    for (const pid of this.#earlier) if (!here.includes(pid)) this.#earlier.delete(pid);
    for (const pid of this.#doomed) if (!isAlive({ pid, started: null })) this.#doomed.delete(pid);
    // The order matters: a worker that dies after this list was made has left nothing in it.
    if (here.length === 0 || !this.#workers().every(({ identity }) => isAlive(identity))) return;
    for (const pid of here) if (!this.#doomed.has(pid)) this.#earlier.add(pid);
  }

  /** A worker has ended and is no longer in the list of workers. */
  workerGone(): void {
    for (const pid of this.#here()) if (!this.#earlier.has(pid) && !this.#isSpared(pid)) this.#end(pid);
  }

  /** Ends all orphans, and resolves when they are gone. */
  async close(): Promise<void> {
    for (let waited = 0; waited < END; waited += LOOK_AGAIN) {
      this.#reap();
      const here = this.#here().filter((pid) => !this.#isSpared(pid));
      if (here.length === 0) break;
      for (const pid of here) this.#end(pid);
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN));
    }
    process.off("SIGCHLD", this.#onChild);
  }

  /** Children of this process that it has not started itself. */
  #here(): readonly number[] {
    if (this.#system === null) return [];
    const own = new Set([...this.#workers().map(({ identity }) => identity.pid), ...this.#others()]);
    return childrenOf(process.pid, systemFiles).filter((pid) => !own.has(pid));
  }

  /**
   * The supervisor of a session inside a worker cleans up after itself. Processes of a living worker end with that
   * worker.
   */
  #isSpared(pid: number): boolean {
    const mark = markIn(pid);
    if (mark === SUPERVISOR_MARK) return true;
    const session = sessionOf(pid);
    return this.#workers().some(
      ({ worker, identity }) => identity.pid === session || mark === markOf(this.#session, worker),
    );
  }

  #end(root: number): void {
    const tree = new Set([root]);
    for (const pid of tree) {
      this.#doomed.add(pid);
      // Killed before its children are listed, so that it starts no more.
      kill(pid);
      for (const child of childrenOf(pid, systemFiles)) if (markIn(child) !== SUPERVISOR_MARK) tree.add(child);
    }
  }

  #reap(): void {
    let hasEnded = false;
    for (const pid of this.#here()) {
      if (this.#system?.reap(pid) === true && this.#doomed.delete(pid)) hasEnded = true;
    }
    // Children that it started at the last moment have become orphans here.
    if (hasEnded) this.workerGone();
  }
}
