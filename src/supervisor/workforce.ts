/**
 * The workers of the session: their processes, and all that goes with a worker from its start to its end (its limit,
 * its measurements, requests to all workers, profiles, the summary of deaths). Lets workers in, and reports what
 * happens to them. Knows nothing of jobs and files.
 */
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { toWire } from "../errors/index.ts";
import { heapFor, type MemoryGauge } from "../memory/index.ts";
import {
  type Bytes,
  type Milliseconds,
  type NodeMemory,
  type Notice,
  PROFILES,
  type ProfilerMessage,
  type ToProgram,
  type ToWorker,
  type Wire,
  type WorkerId,
  type WorkerMessage,
} from "../protocol/index.ts";
import { type Event, oomCause } from "../scheduler/index.ts";
import type { Arena } from "../store/index.ts";
import { realClock } from "./clock.ts";
import { oomKillOf } from "./deaths.ts";
import { EveryWorker } from "./every-worker.ts";
import type { Greeting } from "./greeting.ts";
import type { SupervisorOptions } from "./options.ts";
import { Profiles } from "./profiles.ts";
import { Sampler } from "./sampler.ts";
import { arenaGone } from "./session-files.ts";
import { DeathSummary } from "./summary.ts";
import { Witness } from "./witness.ts";
import { workerCommandLine } from "./worker-command.ts";
import { WorkerLimits } from "./worker-limits.ts";
import { WorkerPool } from "./worker-pool.ts";

type Ready = Extract<Greeting, { type: "ready" }>;
type WorkerWire = Wire<WorkerMessage, ToWorker>;

/** The least time between two looks at the system's OOM kills: shorter than the time between two readings. */
const LOOKS: Milliseconds = 150;

/** What the workers need of their session. */
interface Surroundings {
  readonly directory: string;
  readonly arena: Arena;
  readonly gauge: MemoryGauge;
  /** Whether all wanted workers have connected (the scheduler knows). */
  readonly workforce: { readonly isComplete: boolean };
  /** Processes of the dashboard, which belong to no worker. */
  dashboard(): readonly number[];
  tell(event: Event): void;
  reply(message: ToProgram): void;
  /** Looks at the node while no other session does. */
  inTurn(look: (mayEnd: boolean) => void): void;
  notice(notice: Notice): void;
  /** The set of processes has changed. */
  changed(): void;
}

export class Workforce {
  readonly pool: WorkerPool;
  readonly everyWorker: EveryWorker;
  readonly #options: SupervisorOptions;
  readonly #session: Surroundings;
  readonly #limits: WorkerLimits;
  readonly #witness: Witness;
  readonly #sampler: Sampler;
  readonly #profiles: Profiles;
  readonly #summary: DeathSummary;
  /** Heap limit of workers that start without a limit of their own. */
  #heap: Bytes | null;
  /** The payload of the worker data, as the program sent it; undefined: the program has not connected yet. */
  #workerData: string | null | undefined;
  /** Workers that connected before the program did, or before this process adopts orphans. */
  readonly #early: (() => void)[] = [];
  #isAdopting = true;
  /** When the system's OOM kills were last looked at. */
  #lookedAt: Milliseconds = Number.NEGATIVE_INFINITY;

  constructor(options: SupervisorOptions, session: Surroundings) {
    const { memory, stateDirectory, workerHeap, workerMemory } = options;
    this.#options = options;
    this.#session = session;
    this.#heap = workerHeap;
    this.#summary = new DeathSummary({ host: hostname(), logs: stateDirectory, memory }, realClock, (notice) =>
      session.notice(notice),
    );
    const threshold = memory.memoryMonitorRefreshMs === 0 ? null : memory.memoryUsageThreshold;
    this.#witness = new Witness(session.gauge, threshold, (worker) => this.#sampler.curveOf(worker));
    this.pool = this.#newPool();
    this.#profiles = new Profiles(this.pool, stateDirectory);
    this.#limits = new WorkerLimits(this.pool, workerMemory);
    this.#sampler = this.#newSampler();
    this.everyWorker = new EveryWorker(this.pool, session.workforce, (message) => session.reply(message));
  }

  #newPool(): WorkerPool {
    const options = this.#options;
    const session = this.#session;
    return new WorkerPool(
      {
        commandLine: (id, memory) =>
          workerCommandLine(options, session.directory, id, memory === null ? this.#heap : heapFor(memory)),
        token: options.token,
        env: { ...process.env, ...options.workerEnv },
        logDirectory: options.stateDirectory,
        session: options.session,
        names: new Map([
          [process.pid, "supervisor"],
          [options.parentPid, "program"],
        ]),
        dashboard: () => session.dashboard(),
      },
      {
        starting: (worker, memory, kind) =>
          session.tell({
            type: "workerStarting",
            worker,
            isWide: kind === "wide",
            ...(memory === null ? {} : { memory }),
          }),
        ready: (worker, pid) => {
          session.tell({ type: "workerReady", worker, pid });
          this.everyWorker.changed();
        },
        gone: (worker, end) => {
          this.#summary.died(end.cause);
          session.tell({ type: "workerGone", worker, end });
          this.everyWorker.gone(worker, end);
          this.#profiles.gone(worker);
        },
        changed: () => session.changed(),
      },
      this.#witness,
    );
  }

  #newSampler(): Sampler {
    return new Sampler(
      {
        settings: this.#options.memory,
        program: this.#options.parentPid,
        workers: () => this.pool.workers,
        limitOf: (worker) => this.#limits.of(worker),
        tell: (event) => {
          this.#lookAround();
          this.#session.tell(event);
        },
        inTurn: (look) => this.#session.inTurn(look),
      },
      this.#session.gauge,
    );
  }

  /**
   * Before each reading is told. OOM kills are not looked at for one that follows at once: workers and the node are
   * read separately. Orphans are: one that is seen only after another worker has died might be taken for that worker's.
   */
  #lookAround(): void {
    this.pool.lookAtOrphans();
    const now = performance.now();
    if (now < this.#lookedAt + LOOKS) return;
    this.#lookedAt = now;
    this.#witness.look();
  }

  /** Whether there is a job. */
  set busy(busy: boolean) {
    this.#sampler.busy = busy;
  }

  get nodeNow(): NodeMemory {
    return this.#sampler.nodeNow();
  }

  /** What the workers and the supervisor hold now. */
  get holds(): Bytes {
    const pids = this.pool.workers.map(({ pid }) => pid);
    const memories = [...pids, process.pid].map((pid) => this.#session.gauge.process(pid, "alone")?.private ?? 0);
    return memories.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** The program waits for memory. */
  set hurried(hurried: boolean) {
    this.#sampler.hurried = hurried;
  }

  /** The program has grown to this many bytes, and waits. */
  programHolds(request: number, bytes: Bytes): void {
    this.#session.tell({ type: "programHolds", request, bytes, node: this.#sampler.nodeNow() });
  }

  /** Measures every process and the node, and tells the scheduler first what was read, then that it was. */
  measure(request: number): void {
    this.#sampler.look();
    this.#session.tell({ type: "measured", request });
  }

  /** `limit`: of workers without a limit of their own. `heap`: of those of them that start from now on. */
  setLimits(limit: Bytes | null, heap: Bytes | null): void {
    this.#heap = heap;
    this.#limits.set(limit);
  }

  /** Without adoption, processes that have left their worker, session and environment stay behind: only logged. */
  async adoptOrphans(): Promise<void> {
    try {
      if (process.platform === "linux") this.pool.adoptOrphans(await import("../native/index.ts"));
    } catch (error) {
      process.stderr.write(`${toWire(error).message}\n`);
    }
    this.#isAdopting = false;
    this.#welcomeEarly();
  }

  /** The program has connected. */
  programCame(workerData: string | null): void {
    this.#workerData = workerData;
    this.#welcomeEarly();
  }

  /** False: the worker is not let in. */
  admit(greeting: Ready, wire: WorkerWire): boolean {
    if (this.#workerData !== undefined && !this.#isAdopting) return this.#welcome(greeting, wire, this.#workerData);
    this.#early.push(() => this.#welcome(greeting, wire, this.#workerData ?? null) || wire.close());
    return true;
  }

  admitProfiler(greeting: Extract<Greeting, { type: "profiler" }>, wire: Wire<ProfilerMessage, never>): boolean {
    return this.#profiles.welcome(greeting, wire);
  }

  /** Makes a heap profile; resolves to the file's name. */
  profile(worker: WorkerId, seconds: number): Promise<string> {
    return this.#profiles.ask(worker, seconds);
  }

  #welcomeEarly(): void {
    if (this.#workerData === undefined || this.#isAdopting) return;
    for (const welcome of this.#early.splice(0)) welcome();
  }

  #welcome({ worker, pid }: Ready, wire: WorkerWire, workerData: string | null): boolean {
    const { arena, directory } = this.#session;
    if (!existsSync(arena.place.path)) {
      this.#session.tell({ type: "workersUnavailable", error: toWire(arenaGone(arena.place.path)) });
      return false;
    }
    const { workerLease, wideLease, stateDirectory } = this.#options;
    wire.send({
      type: "welcome",
      worker,
      arena: arena.place,
      directory,
      lease: this.pool.kindOf(worker) === "wide" ? wideLease : workerLease,
      allowance: this.#limits.allowanceOf(worker),
      workerData,
      profiles: join(stateDirectory, PROFILES),
    });
    wire.onMessage((message) => this.#receive(worker, message));
    return this.pool.connect(worker, pid, wire);
  }

  #receive(worker: WorkerId, message: WorkerMessage): void {
    if (message.type === "called") this.everyWorker.answered(worker, message.request, message.answer);
    else if (message.type === "trimmed" && message.request !== null) {
      this.everyWorker.answered(worker, message.request, message.report);
    } else if (message.type === "notProfiled") {
      this.#profiles.refused(worker, message.problem);
    } else if (message.type === "failed") {
      const { error } = message;
      const oomKill = error.name === "FunctionError" ? oomKillOf(this.#witness.recentOomKills()) : null;
      const isForMemory = oomKill !== null || oomCause({ error }) !== null;
      const scene = isForMemory ? { scene: this.pool.sceneOf(worker) } : {};
      this.#session.tell({ type: "fromWorker", worker, message, ...(oomKill === null ? {} : { oomKill }), ...scene });
    } else if (message.type !== "ready") this.#session.tell({ type: "fromWorker", worker, message });
  }

  /** Nothing is measured or profiled from now on; deaths that were not told yet are told. */
  stop(): void {
    this.#sampler.close();
    this.#sampler.hurried = false;
    this.#summary.tellPending();
    this.#profiles.close();
  }
}
