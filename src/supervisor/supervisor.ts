/**
 * The supervisor: the scheduler with real workers, a real program, real files and a real clock. It decides nothing
 * itself: it carries out the scheduler's commands in order, and reports what happened. It lives as long as the
 * program's connection, and leaves nothing behind.
 */
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { toWire } from "../errors/index.ts";
import { EventRecorder, Observer, type ObserverMessage, type ToObserver } from "../events/index.ts";
import { heapFor, type MemoryGauge, procGauge } from "../memory/index.ts";
import type {
  ArenaRange,
  Bytes,
  Milliseconds,
  Notice,
  ProgramMessage,
  StreamEvent,
  ToProgram,
  ToWorker,
  Wire,
  WorkerId,
  WorkerMessage,
} from "../protocol/index.ts";
import { type Command, type Event, oomCause, Scheduler } from "../scheduler/index.ts";
import { type Arena, createArena, removeArena } from "../store/index.ts";
import { realClock } from "./clock.ts";
import { oomKillOf } from "./deaths.ts";
import { Door } from "./door.ts";
import { EveryWorker } from "./every-worker.ts";
import { FirstWorkers } from "./first-workers.ts";
import { type AnyWire, type Greeting, greet, isToken } from "./greeting.ts";
import { JobFiles } from "./job-files.ts";
import { type SupervisorOptions, socketPath } from "./options.ts";
import { OwnDirectory } from "./own-directory.ts";
import { identify, isAlive } from "./process-identity.ts";
import { Sampler } from "./sampler.ts";
import { arenaGone, writeRecord, writeReplaced, writeStaging } from "./session-files.ts";
import { Spilling } from "./spilling.ts";
import { openStateDirectory } from "./state-directory.ts";
import { DeathSummary } from "./summary.ts";
import { sweep } from "./sweep.ts";
import { Witness } from "./witness.ts";
import { workerCommandLine } from "./worker-command.ts";
import { WorkerLimits } from "./worker-limits.ts";
import { WorkerPool } from "./worker-pool.ts";

type ProgramWire = Wire<ProgramMessage, ToProgram>;

/** Until the program has connected, only its pid shows whether it is alive. */
const PROGRAM_POLL: Milliseconds = 1_000;

/** Each observer costs a little for every batch of events. */
const MOST_OBSERVERS = 16;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #directory: OwnDirectory;
  readonly #arena: Arena;
  readonly #scheduler: Scheduler;
  readonly #pool: WorkerPool;
  readonly #everyWorker: EveryWorker;
  readonly #firstWorkers: FirstWorkers;
  /** The payload of the worker data, as the program sent it. */
  #container: string | null = null;
  /** Workers that connected before the program did, or before this process adopts orphans. */
  readonly #early: (() => void)[] = [];
  #isAdopting = true;
  readonly #spilling: Spilling;
  readonly #door: Door;
  readonly #limits: WorkerLimits;
  /** Heap limit of workers that start without a limit of their own. */
  #workerHeap: Bytes | null;
  readonly #sampler: Sampler;
  readonly #witness: Witness;
  readonly #summary: DeathSummary;
  readonly #recorder: EventRecorder;
  readonly #observers = new Set<Observer>();
  readonly #files: JobFiles;
  #program: ProgramWire | null = null;
  #cancelAlarm: () => void = () => {};
  #programPoll: NodeJS.Timeout | null = null;
  #punchHole: ((fd: number, offset: number, length: number) => void) | null = null;
  /** Commands that wait until `punchHole` is loaded: commands after a punch may run only after it. */
  #backlog: Command[] | null = null;
  #state: "open" | "closing" = "open";
  readonly #onClosed: () => void;

  constructor(options: SupervisorOptions, onClosed: () => void, gauge: MemoryGauge = procGauge) {
    this.#options = options;
    this.#workerHeap = options.workerHeap;
    this.#onClosed = onClosed;
    this.#directory = new OwnDirectory(options);
    const { spill } = this.#directory;
    try {
      writeRecord(this.#directory.path, { supervisor: identify(process.pid), workers: [], arena: null, spill });
      openStateDirectory(options.stateDirectory);
      this.#arena = createArena(options.session, options.capacity, this.#directory.path);
    } catch (error) {
      this.#directory.remove();
      throw error;
    }
    const { size, capacity } = this.#arena.place;
    this.#scheduler = new Scheduler({ ...options, arenaSize: size, capacity, streams: true });
    this.#spilling = new Spilling(
      options,
      this.#directory,
      this.#arena.place.path,
      (event) => this.#tell(event),
      (notice) => this.#notice(notice),
    );
    this.#files = new JobFiles((event) => this.#tell(event), {
      staging: (staging) => this.#note((directory) => writeStaging(directory, staging)),
      replaced: (replaced) => this.#note((directory) => writeReplaced(directory, replaced)),
    });
    const { memory, stateDirectory } = options;
    this.#recorder = new EventRecorder(stateDirectory, options.eventFileLimit);
    this.#recorder.record([{ at: now(), ...startedEvent(options) }]);
    this.#summary = new DeathSummary({ host: hostname(), logs: stateDirectory, memory }, realClock, (notice) =>
      this.#notice(notice),
    );
    const threshold = memory.memoryMonitorRefreshMs === 0 ? null : memory.memoryUsageThreshold;
    this.#witness = new Witness(gauge, threshold, (worker) => this.#sampler.curveOf(worker));
    this.#pool = new WorkerPool(
      {
        commandLine: (id, memory) =>
          workerCommandLine(options, this.#directory.path, id, memory === null ? this.#workerHeap : heapFor(memory)),
        token: options.token,
        env: { ...process.env, ...options.workerEnv },
        logDirectory: stateDirectory,
        session: options.session,
        names: new Map([
          [process.pid, "supervisor"],
          [options.parentPid, "program"],
        ]),
      },
      {
        starting: (worker, memory, kind) =>
          this.#tell({
            type: "workerStarting",
            worker,
            isWide: kind === "wide",
            ...(memory === null ? {} : { memory }),
          }),
        ready: (worker, pid) => {
          this.#tell({ type: "workerReady", worker, pid });
          this.#everyWorker.changed();
          this.#firstWorkers.changed();
        },
        gone: (worker, end) => {
          this.#summary.died(end.cause);
          this.#tell({ type: "workerGone", worker, end });
          this.#everyWorker.gone(worker, end);
          this.#firstWorkers.changed();
        },
        changed: () => this.#record(),
      },
      this.#witness,
    );
    this.#firstWorkers = new FirstWorkers(this.#scheduler, realClock);
    this.#limits = new WorkerLimits(this.#pool, options.workerMemory);
    this.#sampler = new Sampler(
      {
        settings: options.memory,
        program: options.parentPid,
        workers: () => this.#pool.workers,
        limitOf: (worker) => this.#limits.of(worker),
        tell: (event) => {
          this.#witness.look();
          this.#pool.lookAtOrphans();
          this.#tell(event);
        },
      },
      gauge,
    );
    this.#everyWorker = new EveryWorker(this.#pool, this.#scheduler, (message) => this.#program?.send(message));
    this.#door = new Door(socketPath(this.#directory.path), (socket) =>
      greet(socket, (greeting, wire) => this.#admit(greeting, wire)),
    );
  }

  /** The session's directory, with the socket in it. */
  get directory(): string {
    return this.#directory.path;
  }

  /** Listens, reports it, starts workers, then cleans up after earlier sessions. */
  async open(): Promise<void> {
    await this.#door.open();
    this.#tell({ type: "open" });
    // Meanwhile the first worker loads much more than this.
    void this.#adoptOrphans();
    this.#programPoll = setInterval(() => {
      if (!isAlive({ pid: this.#options.parentPid, started: null })) void this.close();
    }, PROGRAM_POLL);
    const { localDirectories, session } = this.#options;
    setImmediate(() => {
      for (const local of localDirectories) sweep(local, session);
    });
  }

  /** Without adoption, processes that have left their worker, session and environment stay behind: only logged. */
  async #adoptOrphans(): Promise<void> {
    try {
      if (process.platform === "linux") this.#pool.adoptOrphans(await import("../native/index.ts"));
    } catch (error) {
      process.stderr.write(`${toWire(error).message}\n`);
    }
    this.#isAdopting = false;
    this.#welcomeEarly();
  }

  #admit(greeting: Greeting, wire: AnyWire): boolean {
    if (this.#state !== "open" || !isToken(greeting.token, this.#options.token)) return false;
    if (greeting.type === "ready") {
      const workerWire = wire as Wire<WorkerMessage, ToWorker>;
      if (this.#program !== null && !this.#isAdopting) return this.#welcomeWorker(greeting, workerWire);
      this.#early.push(() => this.#welcomeWorker(greeting, workerWire) || wire.close());
      return true;
    }
    if (greeting.type === "observe") return this.#welcomeObserver(wire as Wire<ObserverMessage, ToObserver>);
    if (this.#program !== null) return false;
    this.#welcomeProgram(wire as ProgramWire, greeting.container ?? null);
    return true;
  }

  #welcomeProgram(wire: ProgramWire, container: string | null): void {
    this.#program = wire;
    this.#container = container;
    if (this.#programPoll !== null) clearInterval(this.#programPoll);
    const { session, workers } = this.#options;
    wire.send({ type: "welcome", session, directory: this.#directory.path, arena: this.#arena.place, workers });
    for (const notice of [...this.#directory.notices, this.#arena.notice]) if (notice !== null) this.#notice(notice);
    wire.onMessage((message) => {
      if (message.type === "close") void this.close(message.request);
      else if (message.type === "call" || message.type === "trim") {
        this.#tell({ type: "workersAsked" });
        this.#everyWorker.ask(message);
      } else if (message.type !== "hello") {
        if (message.type === "memory") {
          this.#firstWorkers.when(() => this.#answerMemory(message));
          return;
        }
        if (message.type === "setMemoryLimit") {
          this.#workerHeap = message.heap;
          this.#limits.set(message.limit);
        }
        this.#tell({ type: "fromProgram", message });
      }
    });
    // When the program's connection ends, the session ends.
    wire.onClose(() => void this.close());
    this.#welcomeEarly();
  }

  #welcomeObserver(wire: Wire<ObserverMessage, ToObserver>): boolean {
    if (this.#observers.size >= MOST_OBSERVERS) return false;
    const observer = new Observer(wire, this.#recorder);
    this.#observers.add(observer);
    wire.onClose(() => this.#observers.delete(observer));
    return true;
  }

  /** Answers with the memory at this moment. */
  #answerMemory(message: Extract<ProgramMessage, { type: "memory" }>): void {
    if (this.#state !== "open") return;
    this.#sampler.look();
    this.#tell({ type: "fromProgram", message });
  }

  #welcomeEarly(): void {
    if (this.#program === null || this.#isAdopting) return;
    for (const welcome of this.#early.splice(0)) welcome();
  }

  #welcomeWorker({ worker, pid }: Extract<Greeting, { type: "ready" }>, wire: Wire<WorkerMessage, ToWorker>): boolean {
    if (!existsSync(this.#arena.place.path)) {
      this.#tell({ type: "workersUnavailable", error: toWire(arenaGone(this.#arena.place.path)) });
      return false;
    }
    const { workerLease, wideLease } = this.#options;
    const lease = this.#pool.kindOf(worker) === "wide" ? wideLease : workerLease;
    wire.send({
      type: "welcome",
      worker,
      arena: this.#arena.place,
      directory: this.#directory.path,
      lease,
      allowance: this.#limits.allowanceOf(worker),
      container: this.#container,
    });
    wire.onMessage((message) => this.#fromWorker(worker, message));
    return this.#pool.connect(worker, pid, wire);
  }

  #fromWorker(worker: WorkerId, message: WorkerMessage): void {
    if (message.type === "called") this.#everyWorker.answered(worker, message.request, message.answer);
    else if (message.type === "trimmed" && message.request !== null) {
      this.#everyWorker.answered(worker, message.request, message.report);
    } else if (message.type === "failed") {
      const { error } = message;
      const oomKill = error.name === "FunctionError" ? oomKillOf(this.#witness.recentOomKills()) : null;
      const isForMemory = oomKill !== null || oomCause({ error }) !== null;
      const scene = isForMemory ? { scene: this.#pool.sceneOf(worker) } : {};
      this.#tell({ type: "fromWorker", worker, message, ...(oomKill === null ? {} : { oomKill }), ...scene });
    } else if (message.type !== "ready") this.#tell({ type: "fromWorker", worker, message });
  }

  #tell(event: Event): void {
    if (this.#state !== "open") return;
    const commands = this.#scheduler.handle(event, performance.now());
    this.#recorder.record(this.#scheduler.takeEvents());
    this.#carryOut(commands);
    this.#setAlarm();
    this.#sampler.busy = this.#scheduler.jobs > 0;
  }

  #carryOut(commands: readonly Command[]): void {
    for (const [at, command] of commands.entries()) {
      if (this.#backlog !== null) {
        this.#backlog.push(...commands.slice(at));
        return;
      }
      this.#carryOutOne(command);
    }
  }

  #carryOutOne(command: Command): void {
    switch (command.type) {
      case "toProgram":
        this.#program?.send(command.message);
        return;
      case "toWorker":
        this.#pool.send(command.worker, command.message);
        return;
      case "punch":
        this.#punch(command.ranges);
        return;
      case "spill":
      case "restore":
      case "unspill":
        this.#spilling.carryOut(command);
        return;
      case "terminate":
        this.#pool.terminate(command.worker);
        return;
      case "kill":
        this.#pool.kill(command.worker, command.reason);
        return;
      case "event": {
        const event = { at: new Date().toISOString(), ...command.event };
        this.#program?.send({ type: "event", event });
        return;
      }
      case "spawn":
        // Deferred, so that it does not run inside the handling of an event.
        setImmediate(() => this.#pool.spawn(command.memory));
        return;
      case "spawnWide":
        setImmediate(() => this.#pool.spawn(null, "wide"));
        return;
      case "unavailable":
        this.#everyWorker.unavailable(command.error);
        return;
      case "replace":
        this.#pool.dismiss(command.worker);
        setImmediate(() => this.#pool.spawn(command.memory));
        return;
      case "dismiss":
        this.#pool.dismiss(command.worker);
        return;
      case "stage":
      case "commit":
      case "discard":
        this.#files.carryOut(command);
        return;
    }
  }

  /** The C boundary is loaded after the start, or here, so that a session's first result does not wait for it. */
  #punch(ranges: readonly ArenaRange[]): void {
    if (this.#punchHole !== null) {
      for (const { offset, length } of ranges) this.#punchHole(this.#arena.fd, offset, length);
      return;
    }
    this.#backlog = [{ type: "punch", ranges }];
    void import("../native/index.ts").then(({ punchHole }) => {
      this.#punchHole = punchHole;
      const commands = this.#backlog ?? [];
      this.#backlog = null;
      if (this.#state === "open") this.#carryOut(commands);
    });
  }

  #setAlarm(): void {
    this.#cancelAlarm();
    const at = this.#scheduler.alarmAt;
    if (at === null) return;
    this.#cancelAlarm = realClock.after(Math.max(1, at - performance.now()), () => this.#tell({ type: "tick" }));
  }

  #record(): void {
    if (this.#state !== "open") return;
    const { path } = this.#arena.place;
    const record = {
      supervisor: identify(process.pid),
      workers: this.#pool.processes,
      arena: path,
      spill: this.#directory.spill,
    };
    this.#directory.note((directory) => writeRecord(directory, record));
    void this.#door.openAgain().catch((error: unknown) => process.stderr.write(`${toWire(error).message}\n`));
  }

  #note(write: (directory: string) => void): void {
    if (this.#state === "open") this.#directory.note(write);
  }

  #notice(notice: Notice): void {
    this.#recorder.record([{ at: now(), type: "notice", notice }]);
    this.#program?.send({ type: "notice", notice });
  }

  /** Ends everything and removes every trace; answers the program last, if it asked. */
  async close(request: number | null = null): Promise<void> {
    if (this.#state !== "open") return;
    this.#state = "closing";
    this.#sampler.close();
    this.#cancelAlarm();
    if (this.#programPoll !== null) clearInterval(this.#programPoll);
    this.#summary.tellPending();
    this.#door.close();
    await this.#pool.close();
    await this.#files.close();
    await this.#spilling.close();
    this.#recorder.record([{ at: now(), type: "sessionEnded" }]);
    await this.#recorder.close();
    for (const observer of this.#observers) observer.close();
    removeArena(this.#arena);
    this.#directory.remove();
    const program = this.#program;
    if (program === null) {
      this.#onClosed();
      return;
    }
    program.onClose(() => this.#onClosed());
    if (request !== null) program.send({ type: "closed", request });
    program.close();
  }
}

/** Time for events: in tenths of a millisecond, by the scheduler's clock. */
function now(): Milliseconds {
  return Math.round(performance.now() * 10) / 10;
}

/** What is known at the start, without secrets: no token, no environment, no arguments. */
function startedEvent(options: SupervisorOptions): Extract<StreamEvent, { type: "sessionStarted" }> {
  const { session, parentPid, workers, capacity, workerMemory, memory } = options;
  return {
    type: "sessionStarted",
    session,
    epoch: performance.timeOrigin,
    host: hostname(),
    pid: process.pid,
    program: parentPid,
    node: process.version,
    workers,
    capacity,
    workerMemory,
    thresholds: { ...memory.thresholds },
    nodeThreshold: memory.memoryMonitorRefreshMs === 0 ? null : memory.memoryUsageThreshold,
  };
}
