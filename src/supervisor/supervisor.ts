/**
 * The supervisor: the scheduler with real workers, a real program, real files and a real clock. It decides nothing
 * itself: it carries out the scheduler's commands in order, and reports what happened. It lives as long as the
 * program's connection, and leaves nothing behind.
 */
import { toWire } from "../errors/index.ts";
import type { ObserverMessage, ToObserver } from "../events/index.ts";
import { type MemoryGauge, procGauge } from "../memory/index.ts";
import type {
  Milliseconds,
  Notice,
  ProfilerMessage,
  ProgramMessage,
  ToProgram,
  ToWorker,
  Wire,
  WorkerId,
  WorkerMessage,
} from "../protocol/index.ts";
import { type Event, Scheduler } from "../scheduler/index.ts";
import { type Arena, createArena, removeArena } from "../store/index.ts";
import { realClock } from "./clock.ts";
import { Commands } from "./commands.ts";
import { Door } from "./door.ts";
import { type AnyWire, type Greeting, greet, isToken } from "./greeting.ts";
import { JobFiles } from "./job-files.ts";
import { NodeSharing } from "./node-sharing.ts";
import { type SupervisorOptions, socketPath } from "./options.ts";
import { OwnDirectory } from "./own-directory.ts";
import { identify, isAlive } from "./process-identity.ts";
import { writeRecord, writeReplaced, writeStaging } from "./session-files.ts";
import { Spilling } from "./spilling.ts";
import { openStateDirectory } from "./state-directory.ts";
import { sweep } from "./sweep.ts";
import { Watchers } from "./watchers.ts";
import { Workforce } from "./workforce.ts";

type ProgramWire = Wire<ProgramMessage, ToProgram>;

/** Until the program has connected, only its pid shows whether it is alive. */
const PROGRAM_POLL: Milliseconds = 1_000;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #directory: OwnDirectory;
  readonly #arena: Arena;
  readonly #scheduler: Scheduler;
  readonly #commands: Commands;
  readonly #workers: Workforce;
  readonly #spilling: Spilling;
  readonly #files: JobFiles;
  readonly #door: Door;
  readonly #watchers: Watchers;
  readonly #sharing: NodeSharing;
  /** A notice for the program, once it is connected. */
  #noDashboard: Notice | null = null;
  #program: ProgramWire | null = null;
  #cancelAlarm: () => void = () => {};
  #programPoll: NodeJS.Timeout | null = null;
  #state: "open" | "closing" = "open";
  readonly #onClosed: () => void;

  constructor(options: SupervisorOptions, onClosed: () => void, gauge: MemoryGauge = procGauge) {
    this.#options = options;
    this.#onClosed = onClosed;
    this.#directory = new OwnDirectory(options);
    this.#arena = openArena(options, this.#directory);
    const { path } = this.#directory;
    const tell = (event: Event) => this.#tell(event);
    const notice = (one: Notice) => this.#notice(one);
    const { size, capacity, path: arenaPath } = this.#arena.place;
    this.#scheduler = new Scheduler({ ...options, arenaSize: size, capacity });
    this.#spilling = new Spilling(options, this.#directory, arenaPath, tell, notice);
    this.#files = new JobFiles(tell, {
      staging: (staging) => this.#note((directory) => writeStaging(directory, staging)),
      replaced: (replaced) => this.#note((directory) => writeReplaced(directory, replaced)),
    });
    this.#watchers = new Watchers(options, path);
    this.#workers = new Workforce(options, {
      directory: path,
      arena: this.#arena,
      gauge,
      workforce: this.#scheduler,
      dashboard: () => this.#watchers.pids,
      tell,
      reply: (message) => this.#program?.send(message),
      inTurn: (look) => this.#sharing.look(look),
      notice,
      changed: () => this.#record(),
    });
    this.#sharing = new NodeSharing({
      options,
      node: () => this.#workers.nodeNow,
      isBusy: () => this.#scheduler.jobs > 0,
      holds: () => this.#workers.holds + this.#scheduler.ledger.live + this.#scheduler.ledger.cached,
      isEnding: () => this.#scheduler.isEnding,
      victim: () => (options.memory.memoryMonitorRefreshMs > 0 ? this.#scheduler.victim : null),
      given: (memory, sessions) => this.#tell({ type: "nodeShare", memory, sessions }),
    });
    this.#commands = new Commands({
      workers: this.#workers,
      spilling: this.#spilling,
      files: this.#files,
      arena: this.#arena.fd,
      isOpen: () => this.#state === "open",
      toProgram: (message) => this.#program?.send(message),
      withStats: (news, at) => this.#watchers.withStats(news, at),
    });
    this.#door = new Door(socketPath(path), (socket) => greet(socket, (greeting, wire) => this.#admit(greeting, wire)));
  }

  /** The session's directory, with the socket in it. */
  get directory(): string {
    return this.#directory.path;
  }

  /** Listens, reports it, starts workers, then cleans up after earlier sessions. */
  async open(): Promise<void> {
    [this.#noDashboard] = await Promise.all([this.#watchers.open(), this.#door.open(), this.#sharing.open()]);
    this.#watchers.announce();
    this.#tell({ type: "open" });
    // Meanwhile the first worker loads much more than this.
    void this.#workers.adoptOrphans();
    this.#programPoll = setInterval(() => {
      if (!isAlive({ pid: this.#options.parentPid, started: null })) void this.close();
    }, PROGRAM_POLL);
    const { localDirectories, session } = this.#options;
    setImmediate(() => {
      for (const local of localDirectories) sweep(local, session);
    });
  }

  #admit(greeting: Greeting, wire: AnyWire): boolean {
    if (this.#state !== "open" || !isToken(greeting.token, this.#options.token)) return false;
    if (greeting.type === "ready") return this.#workers.admit(greeting, wire as Wire<WorkerMessage, ToWorker>);
    if (greeting.type === "profiler")
      return this.#workers.admitProfiler(greeting, wire as Wire<ProfilerMessage, never>);
    if (greeting.type === "observe") {
      const profile = (worker: WorkerId, seconds: number) => this.#workers.profile(worker, seconds);
      return this.#watchers.welcome(wire as Wire<ObserverMessage, ToObserver>, profile);
    }
    if (this.#program !== null) return false;
    this.#welcomeProgram(wire as ProgramWire, greeting.workerData ?? null);
    return true;
  }

  #welcomeProgram(wire: ProgramWire, workerData: string | null): void {
    this.#program = wire;
    if (this.#programPoll !== null) clearInterval(this.#programPoll);
    const { session, workers } = this.#options;
    const { path: directory } = this.#directory;
    const dashboard = this.#watchers.dashboardUrl;
    wire.send({ type: "welcome", session, directory, arena: this.#arena.place, workers, dashboard });
    const notices = [...this.#directory.notices, this.#arena.notice, this.#noDashboard];
    for (const notice of notices) if (notice !== null) this.#notice(notice);
    wire.onMessage((message) => {
      if (message.type === "close") void this.close(message.request);
      else if (message.type === "call" || message.type === "trim") {
        this.#tell({ type: "workersAsked" });
        this.#workers.everyWorker.ask(message);
      } else if (message.type === "holds") {
        this.#workers.programHolds(message.request, message.bytes);
      } else if (message.type !== "hello") {
        if (message.type === "setMemoryLimit") this.#workers.setLimits(message.limit, message.heap);
        this.#tell({ type: "fromProgram", message });
      }
    });
    // When the program's connection ends, the session ends.
    wire.onClose(() => void this.close());
    this.#workers.programCame(workerData);
  }

  #tell(event: Event): void {
    if (this.#state !== "open") return;
    const commands = this.#scheduler.handle(event, performance.now());
    this.#watchers.record(this.#scheduler.takeEvents());
    this.#commands.carryOut(commands);
    this.#setAlarm();
    this.#workers.busy = this.#scheduler.jobs > 0;
    this.#sharing.busyChanged();
    this.#workers.hurried = this.#scheduler.isProgramWaiting;
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
      workers: this.#workers.pool.processes,
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
    this.#watchers.tell({ type: "notice", notice });
    this.#program?.send({ type: "notice", notice });
  }

  /** Ends everything and removes every trace; answers the program last, if it asked. */
  async close(request: number | null = null): Promise<void> {
    if (this.#state !== "open") return;
    this.#state = "closing";
    this.#cancelAlarm();
    if (this.#programPoll !== null) clearInterval(this.#programPoll);
    this.#sharing.close();
    this.#workers.stop();
    this.#door.close();
    this.#watchers.stop();
    await this.#workers.pool.close();
    await this.#files.close();
    await this.#spilling.close();
    await this.#watchers.close();
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

/** Records the session before it makes the arena, so that a later session can clean up. */
function openArena({ stateDirectory, session, capacity }: SupervisorOptions, directory: OwnDirectory): Arena {
  const { path, spill } = directory;
  try {
    writeRecord(path, { supervisor: identify(process.pid), workers: [], arena: null, spill });
    openStateDirectory(stateDirectory);
    return createArena(session, capacity, path);
  } catch (error) {
    directory.remove();
    throw error;
  }
}
