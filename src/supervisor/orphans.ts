/**
 * What workers have started and left without a parent: the system gives it to this process, and here it ends, also
 * where it has a session of its own and an empty environment. Linux only; elsewhere nobody comes.
 *
 * Whose it is can be told by its mark, by its session, or by the moment: who comes when a worker dies is that worker's.
 * One that came while all were alive (its parent was no worker) and has no sign of any stays until the session ends.
 */
import { childrenOf, listsChildren, systemFiles } from "../memory/index.ts";
import type { Milliseconds, WorkerId } from "../protocol/index.ts";
import { isAlive, type ProcessIdentity } from "./process-identity.ts";
import { kill, markIn, markOf, SUPERVISOR_MARK, sessionOf } from "./process-tree.ts";

/** Whoever was killed is gone after this time, unless it hangs in a system call. */
const END: Milliseconds = 500;
const LOOK_AGAIN: Milliseconds = 5;

/** What this needs of the system. */
export interface Adoption {
  /** From now on orphans come here. */
  adoptOrphans(): void;
  /** Asks how a child has ended; false: it has not. */
  reap(pid: number): boolean;
}

export interface LivingWorker {
  readonly worker: WorkerId;
  readonly identity: ProcessIdentity;
}

export class Orphans {
  readonly #session: string;
  readonly #workers: () => readonly LivingWorker[];
  #system: Adoption | null = null;
  /** Came while all workers were alive. */
  readonly #earlier = new Set<number>();
  /** Ended from here, and not gone yet. */
  readonly #doomed = new Set<number>();
  readonly #onChild = () => this.#reap();

  /** `workers`: those whose end has not been told; Node itself asks how they ended. */
  constructor(session: string, workers: () => readonly LivingWorker[]) {
    this.#session = session;
    this.#workers = workers;
  }

  adopt(system: Adoption): void {
    // Whom the system does not list nobody could ask after: all that ends would stay as a zombie.
    if (!listsChildren(systemFiles)) return;
    system.adoptOrphans();
    this.#system = system;
    process.on("SIGCHLD", this.#onChild);
  }

  /** Now and then: who is here already is not what the next worker leaves. */
  look(): void {
    const here = this.#here();
    for (const pid of this.#earlier) if (!here.includes(pid)) this.#earlier.delete(pid);
    for (const pid of this.#doomed) if (!isAlive({ pid, started: null })) this.#doomed.delete(pid);
    // In this order: who died after they were listed has left nothing among them.
    if (here.length === 0 || !this.#workers().every(({ identity }) => isAlive(identity))) return;
    for (const pid of here) if (!this.#doomed.has(pid)) this.#earlier.add(pid);
  }

  /** A worker has ended, and is no longer among the workers. */
  workerGone(): void {
    for (const pid of this.#here()) if (!this.#earlier.has(pid) && !this.#isSpared(pid)) this.#end(pid);
  }

  /** The session ends, and nobody stays. Comes back when they are gone. */
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

  /** Children of this process that it has not started. */
  #here(): readonly number[] {
    if (this.#system === null) return [];
    const workers = new Set(this.#workers().map(({ identity }) => identity.pid));
    return childrenOf(process.pid, systemFiles).filter((pid) => !workers.has(pid));
  }

  /**
   * The supervisor of a session inside a worker cleans up after itself; what is a living worker's ends with that one.
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
      // Before its children are listed: from now on it starts none.
      kill(pid);
      for (const child of childrenOf(pid, systemFiles)) if (markIn(child) !== SUPERVISOR_MARK) tree.add(child);
    }
  }

  #reap(): void {
    let hasEnded = false;
    for (const pid of this.#here()) {
      if (this.#system?.reap(pid) === true && this.#doomed.delete(pid)) hasEnded = true;
    }
    // What it had started at the last moment has come here with its end.
    if (hasEnded) this.workerGone();
  }
}
