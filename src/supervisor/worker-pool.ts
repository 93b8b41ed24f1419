/**
 * The worker processes, started, watched and ended as the scheduler says. Knows nothing of tasks, and starts no worker
 * by itself. A worker's end is reported when its process is gone and its connection has been read to the end, so that
 * no message of the worker comes after its death.
 *
 *     spawn ─▶ starting ──ready──▶ connected ──exit──▶ gone
 *                 └──exit──▶ gone
 */

import type { ChildProcess } from "node:child_process";
import type { OomKills } from "../memory/index.ts";
import type {
  Bytes,
  KillReason,
  Milliseconds,
  NodeSnapshot,
  ToWorker,
  Wire,
  WorkerId,
  WorkerMessage,
} from "../protocol/index.ts";
import type { Scene, WorkerEnd } from "../scheduler/index.ts";
import { causeOfDeath } from "./deaths.ts";
import { type Adoption, type LivingWorker, Orphans } from "./orphans.ts";
import { identify, type ProcessIdentity } from "./process-identity.ts";
import { killTrees } from "./process-tree.ts";
import { beforeItsEnd, fewer, risen, type Witness } from "./witness.ts";
import { EndedLogs, lastWords, ProcessLog, workerLog } from "./worker-log.ts";
import { type StartOptions, startWorker } from "./worker-process.ts";

interface PoolOptions extends StartOptions {
  /** Names of the session's other processes. */
  readonly names: ReadonlyMap<number, string>;
  /** Processes of the dashboard, which belong to no worker. */
  readonly dashboard: () => readonly number[];
}

/** An ordinary worker, or the wide kernel, which is an additional process that starts on demand. */
export type WorkerKind = "worker" | "wide";

interface PoolEvents {
  starting(worker: WorkerId, memory: Bytes | null, kind: WorkerKind): void;
  ready(worker: WorkerId, pid: number): void;
  gone(worker: WorkerId, end: WorkerEnd): void;
  /** The set of processes has changed. */
  changed(): void;
}

/** How often the length of logs is checked. */
const LOGS: Milliseconds = 250;
/**
 * A worker that was dismissed, or has lost its connection, has nothing left to do but end. This and the delays below
 * belong to the ending of a process. They decide nothing: the worker is given up already, and its end is reported in
 * the same way whether the process ends by itself or is killed.
 */
const CLOSED_GRACE: Milliseconds = 1_000;
/** Delays at the end: ask, SIGTERM, SIGKILL. All short, because the workers' data is no longer needed. */
const EXIT_GRACE: Milliseconds = 250;
const TERM_GRACE: Milliseconds = 250;

const NO_KILLS: OomKills = { container: 0, machine: 0, ours: 0 };

interface WorkerProcess {
  readonly id: WorkerId;
  readonly kind: WorkerKind;
  /** Its limit, if it differs from the session's. */
  readonly memory: Bytes | null;
  readonly child: ChildProcess;
  readonly log: ProcessLog | null;
  readonly identity: ProcessIdentity | null;
  /** The counters when it began. */
  readonly oomKills: OomKills;
  wire: Wire<WorkerMessage, ToWorker> | null;
  /** Why the session ends it. */
  order: KillReason | "asked" | null;
  /** Killed because its connection was never made, or broke. */
  connection: "never" | "broken" | null;
  /** The node's memory at the moment when the session ended the worker for its memory. */
  node: NodeSnapshot | null;
  ended: { readonly exitCode: number | null; readonly signal: string | null } | null;
  /** Kills it if it does not end by itself; null: nothing was asked of it. */
  timer: NodeJS.Timeout | null;
}

export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #events: PoolEvents;
  readonly #witness: Witness;
  readonly #orphans: Orphans;
  readonly #workers = new Map<WorkerId, WorkerProcess>();
  readonly #endedLogs = new EndedLogs();
  readonly #logTimer: NodeJS.Timeout;
  /** The supervisor's own log, bounded like those of the workers. */
  readonly #ownLog: ProcessLog | null;
  #lastId = 0;
  #state: "open" | "closing" = "open";
  #onEmpty: (() => void) | null = null;

  constructor(options: PoolOptions, events: PoolEvents, witness: Witness) {
    this.#options = options;
    this.#events = events;
    this.#witness = witness;
    this.#orphans = new Orphans(options.session, () => this.#living, options.dashboard);
    this.#ownLog = ProcessLog.ofSupervisor(options.logDirectory);
    this.#logTimer = setInterval(() => this.#boundLogs(), LOGS).unref();
  }

  /** From now on this process adopts the orphans of workers, and ends them with their worker. */
  adoptOrphans(system: Adoption): void {
    this.#orphans.adopt(system);
  }

  /** Called now and then, to tell the orphans of the next dead worker from earlier ones. */
  lookAtOrphans(): void {
    this.#orphans.look();
  }

  get processes(): readonly ProcessIdentity[] {
    return this.#living.map(({ identity }) => identity);
  }

  get #living(): readonly LivingWorker[] {
    return [...this.#workers.values()].flatMap(({ id, identity }) =>
      identity === null ? [] : [{ worker: id, identity }],
    );
  }

  get workers(): readonly { readonly worker: WorkerId; readonly pid: number }[] {
    return [...this.#workers.values()].flatMap(({ id, child }) =>
      child.pid === undefined ? [] : [{ worker: id, pid: child.pid }],
    );
  }

  /** Workers that are connected and will stay. */
  get connected(): readonly { readonly worker: WorkerId; readonly kind: WorkerKind }[] {
    return [...this.#workers.values()].flatMap(({ id, kind, wire, order }) =>
      wire === null || order === "asked" ? [] : [{ worker: id, kind }],
    );
  }

  kindOf(id: WorkerId): WorkerKind {
    return this.#workers.get(id)?.kind ?? "worker";
  }

  /** Its limit, if it differs from the session's. */
  memoryOf(id: WorkerId): Bytes | null {
    return this.#workers.get(id)?.memory ?? null;
  }

  spawn(memory: Bytes | null = null, kind: WorkerKind = "worker"): void {
    if (this.#state !== "open") return;
    this.#lastId += 1;
    const id = this.#lastId as WorkerId;
    const { child, log } = startWorker(this.#options, id, memory);
    const { pid } = child;
    const worker: WorkerProcess = {
      id,
      kind,
      memory,
      child,
      log,
      identity: pid === undefined ? null : identify(pid),
      oomKills: this.#witness.oomKills(),
      wire: null,
      order: null,
      connection: null,
      node: null,
      ended: null,
      timer: null,
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

  /** Accepts a connection as worker `id`. False if no such worker is starting, or if it is being killed. */
  connect(id: WorkerId, pid: number, wire: Wire<WorkerMessage, ToWorker>): boolean {
    const worker = this.#workers.get(id);
    if (worker === undefined || worker.wire !== null || worker.child.pid !== pid) return false;
    if (worker.connection === "never") return false;
    worker.wire = wire;
    wire.onClose(() => {
      if (worker.ended === null) {
        setTimer(worker, CLOSED_GRACE, () => this.#killUnreachable(worker, "broken"));
        worker.child.once("exit", () => this.#gone(worker));
      } else this.#gone(worker);
    });
    this.#events.ready(id, pid);
    return true;
  }

  send(id: WorkerId, message: ToWorker): void {
    this.#workers.get(id)?.wire?.send(message);
  }

  /** SIGTERM: the worker may still answer and clean up. */
  terminate(id: WorkerId): void {
    const worker = this.#workers.get(id);
    if (worker === undefined) return;
    this.#order(worker, "terminate");
    worker.child.kill("SIGTERM");
  }

  /** SIGKILL, for the worker and everything that it has started. */
  kill(id: WorkerId, reason: KillReason): void {
    const worker = this.#workers.get(id);
    if (worker === undefined) return;
    if (reason === "neverConnected") {
      this.#killUnreachable(worker, "never");
      return;
    }
    this.#order(worker, reason);
    this.#killTree(worker);
  }

  /** Ends an idle worker. */
  dismiss(id: WorkerId): void {
    const worker = this.#workers.get(id);
    if (worker === undefined) return;
    worker.order ??= "asked";
    worker.wire?.send({ type: "exit" });
    setTimer(worker, CLOSED_GRACE, () => this.#killTree(worker));
  }

  /** The first reason counts. The node's memory is read before the worker gives any back. */
  #order(worker: WorkerProcess, reason: KillReason): void {
    if (worker.order !== null || worker.ended !== null) return;
    worker.order = reason;
    if (reason !== "unresponsive") worker.node = this.#snapshot();
  }

  #killUnreachable(worker: WorkerProcess, connection: "never" | "broken"): void {
    if (worker.ended === null && worker.order === null) worker.connection = connection;
    this.#killTree(worker);
  }

  #killTree({ id, child }: WorkerProcess): void {
    if (child.pid !== undefined) killTrees([child.pid], this.#options.session, id);
  }

  #snapshot(): NodeSnapshot {
    const names = new Map(this.#options.names);
    for (const pid of this.#options.dashboard()) names.set(pid, "dashboard");
    for (const { worker, pid } of this.workers) names.set(pid, `worker ${worker}`);
    return this.#witness.snapshot(names);
  }

  /** For a living worker whose task ran out of memory. */
  sceneOf(worker: WorkerId): Scene {
    return { node: this.#snapshot(), log: workerLog(this.#options.logDirectory, worker) };
  }

  #snapshotBefore({ id, child }: WorkerProcess): NodeSnapshot {
    const had = this.#witness.curveOf(id).at(-1)?.private ?? 0;
    return beforeItsEnd(this.#snapshot(), { pid: child.pid ?? 0, name: `worker ${id}`, private: had });
  }

  /** Ends all workers, and resolves when no process is left. */
  async close(): Promise<void> {
    this.#state = "closing";
    if (this.#workers.size > 0) await this.#endWorkers();
    await this.#orphans.close();
    clearInterval(this.#logTimer);
    this.#ownLog?.close();
  }

  #boundLogs(): void {
    for (const { log } of this.#workers.values()) log?.bound();
    this.#ownLog?.bound();
  }

  async #endWorkers(): Promise<void> {
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    const workers = [...this.#workers.values()];
    const killAll = () => {
      const leaders = workers.flatMap(({ child }) => child.pid ?? []);
      killTrees(leaders, this.#options.session, null);
    };
    for (const worker of workers) {
      worker.order ??= "asked";
      // A worker that has not connected cannot be asked.
      if (worker.wire === null) worker.child.kill("SIGTERM");
      else worker.wire.send({ type: "exit" });
    }
    const term = setTimeout(() => {
      for (const { child } of this.#workers.values()) child.kill("SIGTERM");
    }, EXIT_GRACE);
    const kill = setTimeout(killAll, EXIT_GRACE + TERM_GRACE);
    await empty;
    clearTimeout(term);
    clearTimeout(kill);
    // Processes that the workers had started.
    killAll();
  }

  #gone(worker: WorkerProcess): void {
    if (!this.#workers.has(worker.id)) return;
    if (worker.timer !== null) clearTimeout(worker.timer);
    // Ends what the dead worker had started; when the session closes, that is done for all at once.
    if (this.#state === "open") this.#killTree(worker);
    const end = this.#endOf(worker);
    this.#workers.delete(worker.id);
    worker.log?.close();
    this.#endedLogs.add(end.log);
    this.#orphans.workerGone();
    this.#events.gone(worker.id, end);
    this.#events.changed();
    if (this.#workers.size === 0) this.#onEmpty?.();
  }

  #endOf(worker: WorkerProcess): WorkerEnd {
    const { exitCode, signal } = worker.ended ?? { exitCode: null, signal: null };
    const { id, order, connection } = worker;
    const log = workerLog(this.#options.logDirectory, id);
    const { tail, words } = lastWords(log);
    const oomKills = risen(worker.oomKills, this.#witness.oomKills());
    const recent = connection === null ? fewer(this.#witness.recentOomKills(), oomKills) : NO_KILLS;
    const cause = causeOfDeath({ exitCode, signal, order, words, oomKills: recent });
    return {
      exitCode,
      signal,
      cause,
      tail,
      log,
      curve: this.#witness.curveOf(id),
      oomKills,
      node: worker.node ?? (cause === "asked" ? null : this.#snapshotBefore(worker)),
      ...(connection === null ? {} : { connection }),
    };
  }

  #failedToSpawn(worker: WorkerProcess, error: Error): void {
    if (worker.child.pid !== undefined) return;
    worker.log?.append(`${error.message}\n`);
    worker.ended = { exitCode: null, signal: null };
    this.#gone(worker);
  }
}

/** One timer at a time: a forgotten timer could kill a process that has got the worker's pid. */
function setTimer(worker: WorkerProcess, pause: Milliseconds, then: () => void): void {
  if (worker.timer !== null) clearTimeout(worker.timer);
  worker.timer = setTimeout(then, pause);
}
