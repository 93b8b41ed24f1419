/**
 * The worker processes: started, watched, replaced, ended. Knows nothing of tasks. A worker's end is reported when
 * its process is gone and its connection has been read to the end, so that no word of it comes after its death.
 *
 *   spawn ─▶ starting ──ready──▶ connected ──exit──▶ gone ─▶ replaced, where fewer than `workers` are left
 *               └──exit before ready: after a pause that doubles; five in a row is reported
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, writeFileSync } from "node:fs";
import { type SpillwayError, WorkerDiedError } from "../errors/index.ts";
import type { Bytes, Milliseconds, ToWorker, Wire, WorkerId, WorkerMessage } from "../protocol/index.ts";
import type { WorkerEnd } from "../scheduler/index.ts";
import { identify, type ProcessIdentity } from "./process-identity.ts";
import { lastWords, openWorkerLog, workerLog } from "./worker-log.ts";

export interface PoolOptions {
  readonly workers: number;
  /** The command line of worker `id`, after the Node executable; `memory`: its limit, where it is not the session's. */
  readonly commandLine: (id: WorkerId, memory: Bytes | null) => readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logDirectory: string;
}

/** An ordinary worker, or the wide kernel, which is beside them and is only started when it is asked for. */
export type WorkerKind = "worker" | "wide";

export interface PoolEvents {
  starting(worker: WorkerId, memory: Bytes | null, kind: WorkerKind): void;
  ready(worker: WorkerId, pid: number): void;
  gone(worker: WorkerId, end: WorkerEnd): void;
  /** Workers do not come up. */
  unavailable(error: SpillwayError): void;
  /** The set of processes has changed. */
  changed(): void;
}

/** Loading the kernel takes 0.2 s, on a busy machine ten times that; a minute is a worker that hangs. */
const START_TIMEOUT: Milliseconds = 60_000;
/** The others do not wait longer than this for the first worker. */
const OTHERS_LATEST: Milliseconds = 500;
const START_FAILURES = 5;
const FIRST_PAUSE: Milliseconds = 100;
const LONGEST_PAUSE: Milliseconds = 5_000;
/** A worker whose connection is closed has nothing left to do but end. */
const CLOSED_GRACE: Milliseconds = 1_000;
/** At the end: asked, told, and ended. What they hold matters to nobody any more, so all of it is short. */
const EXIT_GRACE: Milliseconds = 250;
const TERM_GRACE: Milliseconds = 250;
/** Under memory pressure the kernel shall end a worker, which can be replaced, and not the program. */
const OOM_SCORE = "1000";

interface WorkerProcess {
  readonly id: WorkerId;
  readonly kind: WorkerKind;
  /** Its limit, where it is not the session's. */
  readonly memory: Bytes | null;
  readonly child: ChildProcess;
  readonly identity: ProcessIdentity | null;
  wire: Wire<WorkerMessage, ToWorker> | null;
  isDismissed: boolean;
  ended: { readonly exitCode: number | null; readonly signal: string | null } | null;
  timer: NodeJS.Timeout;
}

export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #events: PoolEvents;
  readonly #workers = new Map<WorkerId, WorkerProcess>();
  #lastId = 0;
  #startFailures = 0;
  /** How many are kept alive. */
  #wanted: number;
  #pause: NodeJS.Timeout | null = null;
  #state: "open" | "closing" = "open";
  #onEmpty: (() => void) | null = null;

  constructor(options: PoolOptions, events: PoolEvents) {
    this.#options = options;
    this.#wanted = options.workers;
    this.#events = events;
  }

  /**
   * Starts what is missing: the first worker at once, the others when it is there. Started together they would load the
   * kernel against each other, and the first row of a small job would wait for all of them.
   */
  start(): void {
    this.spawn();
    setTimeout(() => this.#replenish(), OTHERS_LATEST).unref();
  }

  get processes(): readonly ProcessIdentity[] {
    return [...this.#workers.values()].flatMap(({ identity }) => (identity === null ? [] : [identity]));
  }

  get workers(): readonly { readonly worker: WorkerId; readonly pid: number }[] {
    return [...this.#workers.values()].flatMap(({ id, child }) =>
      child.pid === undefined ? [] : [{ worker: id, pid: child.pid }],
    );
  }

  /** Those that can be spoken to and are to stay. */
  get connected(): readonly { readonly worker: WorkerId; readonly kind: WorkerKind }[] {
    return [...this.#workers.values()].flatMap(({ id, kind, wire, isDismissed }) =>
      wire === null || isDismissed ? [] : [{ worker: id, kind }],
    );
  }

  /** No ordinary worker is on its way up, except those that wait until a pause is over. */
  get isComplete(): boolean {
    const ordinary = [...this.#workers.values()].filter(({ kind }) => kind === "worker");
    if (ordinary.some(({ wire }) => wire === null)) return false;
    return this.#pause !== null || ordinary.length >= this.#wanted;
  }

  /** So many are to be there from now on; those that are too many are dismissed one by one. */
  want(workers: number): void {
    this.#wanted = workers;
    this.#replenish();
  }

  kindOf(id: WorkerId): WorkerKind {
    return this.#workers.get(id)?.kind ?? "worker";
  }

  /** Its limit, where it is not the session's. */
  memoryOf(id: WorkerId): Bytes | null {
    return this.#workers.get(id)?.memory ?? null;
  }

  spawn(memory: Bytes | null = null, kind: WorkerKind = "worker"): void {
    if (this.#state !== "open") return;
    this.#lastId += 1;
    const id = this.#lastId as WorkerId;
    const log = openWorkerLog(this.#options.logDirectory, id);
    const child = spawn(process.execPath, this.#options.commandLine(id, memory), {
      stdio: ["ignore", log, log],
      env: this.#options.env,
    });
    closeSync(log);
    const { pid } = child;
    if (pid !== undefined) preferForOomKiller(pid);
    const worker: WorkerProcess = {
      id,
      kind,
      memory,
      child,
      identity: pid === undefined ? null : identify(pid),
      wire: null,
      isDismissed: false,
      ended: null,
      timer: setTimeout(() => child.kill("SIGKILL"), START_TIMEOUT),
    };
    this.#workers.set(id, worker);
    child.once("error", (error) => this.#failedToSpawn(worker, error));
    child.once("exit", (exitCode, signal) => {
      worker.ended = { exitCode, signal };
      if (worker.wire === null) this.#gone(worker);
    });
    this.#events.starting(id, memory, kind);
    this.#events.changed();
  }

  /** A connection says that it is worker `id`. False where there is no such worker waiting to connect. */
  connect(id: WorkerId, pid: number, wire: Wire<WorkerMessage, ToWorker>): boolean {
    const worker = this.#workers.get(id);
    if (worker === undefined || worker.wire !== null || worker.child.pid !== pid) return false;
    clearTimeout(worker.timer);
    worker.wire = wire;
    this.#startFailures = 0;
    wire.onClose(() => {
      if (worker.ended === null) {
        worker.timer = setTimeout(() => worker.child.kill("SIGKILL"), CLOSED_GRACE);
        worker.child.once("exit", () => this.#gone(worker));
      } else this.#gone(worker);
    });
    this.#events.ready(id, pid);
    this.#replenish();
    return true;
  }

  send(id: WorkerId, message: ToWorker): void {
    this.#workers.get(id)?.wire?.send(message);
  }

  terminate(id: WorkerId): void {
    this.#workers.get(id)?.child.kill("SIGTERM");
  }

  kill(id: WorkerId): void {
    this.#workers.get(id)?.child.kill("SIGKILL");
  }

  /** Ends an idle worker. */
  dismiss(id: WorkerId): void {
    const worker = this.#workers.get(id);
    if (worker === undefined) return;
    worker.isDismissed = true;
    worker.wire?.send({ type: "exit" });
    worker.timer = setTimeout(() => worker.child.kill("SIGKILL"), CLOSED_GRACE);
  }

  /** Ends all of them, the unwilling too, and comes back when no process is left. */
  async close(): Promise<void> {
    this.#state = "closing";
    if (this.#pause !== null) clearTimeout(this.#pause);
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    if (this.#workers.size === 0) return;
    for (const worker of this.#workers.values()) {
      // One that has not connected cannot be asked.
      if (worker.wire === null) worker.child.kill("SIGTERM");
      else worker.wire.send({ type: "exit" });
    }
    const term = setTimeout(() => this.#signalAll("SIGTERM"), EXIT_GRACE);
    const kill = setTimeout(() => this.#signalAll("SIGKILL"), EXIT_GRACE + TERM_GRACE);
    await empty;
    clearTimeout(term);
    clearTimeout(kill);
  }

  #signalAll(signal: NodeJS.Signals): void {
    for (const { child } of this.#workers.values()) child.kill(signal);
  }

  #replenish(): void {
    if (this.#state !== "open" || this.#pause !== null) return;
    let ordinary = 0;
    for (const { kind } of this.#workers.values()) if (kind === "worker") ordinary += 1;
    for (; ordinary < this.#wanted; ordinary++) this.spawn();
  }

  #gone(worker: WorkerProcess): void {
    if (!this.#workers.delete(worker.id)) return;
    clearTimeout(worker.timer);
    const { exitCode, signal } = worker.ended ?? { exitCode: null, signal: null };
    const log = workerLog(this.#options.logDirectory, worker.id);
    const words = lastWords(log);
    const cause = words.outOfHeap ? "heap" : signal === null ? "exit" : "signal";
    const { tail } = words;
    const oomKills = { container: 0, machine: 0 };
    this.#events.gone(worker.id, { exitCode, signal, cause, tail, log, curve: [], oomKills, node: null });
    this.#events.changed();
    if (this.#workers.size === 0) this.#onEmpty?.();
    if (this.#state !== "open") return;
    if (worker.wire === null) this.#startFailed(worker, words.tail);
    else this.#replenish();
  }

  #startFailed(worker: WorkerProcess, tail: string): void {
    this.#startFailures += 1;
    if (this.#startFailures === START_FAILURES) {
      const { exitCode, signal } = worker.ended ?? { exitCode: null, signal: null };
      const how = signal === null ? `code ${exitCode}` : signal;
      this.#events.unavailable(
        new WorkerDiedError(
          `Workers cannot be started: ${START_FAILURES} in a row ended at once, the last one with ${how}. ` +
            `Its log (${workerLog(this.#options.logDirectory, worker.id)}) ends with:\n${tail}`,
          "start",
          exitCode,
          signal,
          signal === null ? "exit" : "signal",
        ),
      );
    }
    if (this.#pause !== null) return;
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (this.#startFailures - 1));
    this.#pause = setTimeout(() => {
      this.#pause = null;
      this.#replenish();
    }, pause);
  }

  #failedToSpawn(worker: WorkerProcess, error: Error): void {
    if (worker.child.pid !== undefined) return;
    const log = openWorkerLog(this.#options.logDirectory, worker.id);
    writeFileSync(log, `${error.message}\n`);
    closeSync(log);
    worker.ended = { exitCode: null, signal: null };
    this.#gone(worker);
  }
}

function preferForOomKiller(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, OOM_SCORE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // No /proc (macOS), or the process has ended already: either way there is nothing to prefer.
    if (code !== "ENOENT" && code !== "ESRCH" && code !== "EACCES") throw error;
  }
}
