/** The simulated workers: each started when the scheduler says so, told things, and dead one day. */
import { isMemoryReason } from "../../src/errors/index.ts";
import type { DeathReason, KillReason, SessionEvent, TaskId, ToWorker, WorkerId } from "../../src/protocol/index.ts";
import type { Command, Scheduler } from "../../src/scheduler/index.ts";
import { ended } from "../support/ends.ts";
import { type Broken, type MemoryMeans, WORKER_MEMORY } from "./means.ts";
import { SimulatedMemory } from "./memory.ts";
import type { SimulatedProgram } from "./program.ts";
import { Rules } from "./rules.ts";
import { Running } from "./running.ts";
import { StartRules } from "./starts.ts";
import { delay, type Surroundings } from "./surroundings.ts";
import type { SimulatedWorker } from "./worker.ts";

export class SimulatedWorkers {
  readonly #all = new Map<WorkerId, SimulatedWorker>();
  readonly #rules: Rules;
  readonly #running: Running;
  #limit: number;
  /** Deaths for memory, by task. */
  readonly shortages = new Map<TaskId, DeathReason[]>();
  readonly memory: SimulatedMemory | null;
  readonly starts: StartRules;
  #last = 0;
  /** Workers that were ordered and have not begun to start; without the wide kernel. */
  #ordered = 0;
  /** How often others ended so that a task was alone. */
  parked = 0;
  monitorKills = 0;
  terminated = 0;
  pauses = 0;
  recycled = 0;
  replaced = 0;
  maxAlive = 0;
  /** Workers that never connected. */
  hangingStarts = 0;

  constructor(
    private readonly world: Surroundings,
    program: SimulatedProgram,
    private readonly slots: number,
    extra: number,
    { ledger }: Scheduler,
    memory: MemoryMeans | null,
    /** When no process can be started; null: never. */
    private readonly broken: Broken | null,
    /** How many events there have been. */
    private readonly events: () => number,
  ) {
    this.memory = memory && new SimulatedMemory(world, memory, this.#all, () => ledger.live + ledger.cached);
    this.starts = new StartRules(slots, extra);
    this.#limit = memory?.limit ?? WORKER_MEMORY;
    this.#rules = new Rules(program, this.#all, world.arena);
    this.#running = new Running(
      world,
      program,
      this.#rules,
      this.memory,
      (worker, cause) => this.#die(worker, cause),
      () => this.starts.taskDone(),
    );
  }

  /** Without the wide kernel. */
  get alive(): number {
    let count = 0;
    for (const { isWide } of this.#all.values()) if (!isWide) count += 1;
    return count;
  }

  /** Without those that are about to end. */
  get staying(): number {
    return [...this.#all.values()].filter(({ isWide, isLeaving }) => !isWide && !isLeaving).length;
  }

  get starting(): number {
    return [...this.#all.values()].filter(({ state }) => state === "starting").length;
  }

  /** No worker is ordered, or starting and still waited for; the wide kernel may be. */
  get areUp(): boolean {
    const starting = [...this.#all.values()].filter(
      ({ state, isKilledAtStart }) => state === "starting" && !isKilledAtStart,
    );
    return this.#ordered === 0 && starting.every(({ isWide }) => isWide);
  }

  get busy(): number {
    return [...this.#all.values()].filter((worker) => worker.task !== null).length;
  }

  get paused(): number {
    return [...this.#all.values()].filter(({ pressure }) => pressure === "paused").length;
  }

  /** Something happened that the scheduler tells to whoever watches. */
  note(event: SessionEvent): void {
    if (event.type === "recycled") this.recycled += 1;
    if (event.type !== "pressure") return;
    const worker = this.#all.get(event.worker);
    if (worker === undefined || worker.pressure !== event.from)
      throw new Error(`${event.worker} was not ${event.from}`);
    worker.pressure = event.to;
    this.pauses += Number(event.to === "paused");
  }

  /** Of workers that start from now on. */
  limitIs(limit: number | null): void {
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
  }

  #spawn(memory = this.#limit, isWide = false): void {
    const { agenda, chance, dangers } = this.world;
    if (isWide && [...this.#all.values()].some((one) => one.isWide)) throw new Error("a second wide kernel");
    if (!isWide) this.#ordered -= 1;
    const id = ++this.#last as WorkerId;
    const worker: SimulatedWorker = {
      id,
      memory,
      isWide,
      state: "starting",
      task: null,
      private: this.memory?.means.base ?? 0,
      appetite: 0,
      before: 0,
      peak: 0,
      pressure: "normal",
      endedAt: null,
      isLeaving: false,
      begunAt: agenda.now,
      isKilledAtStart: false,
      operators: new Set(),
      instances: new Map(),
    };
    this.#all.set(id, worker);
    this.maxAlive = Math.max(this.maxAlive, this.alive);
    if (!isWide) this.starts.starts(agenda.now, this.staying);
    this.world.tell({ type: "workerStarting", worker: id, memory, isWide });
    if (this.#isBroken) {
      agenda.later(0, () => this.#die(worker, "exit"));
      return;
    }
    if (this.#happens(dangers.hangingStart)) {
      this.hangingStarts += 1;
      return;
    }
    const isSlow = this.#happens(dangers.slowStart);
    agenda.later(isSlow ? chance.between(1_000, 70_000) : delay(chance), () => {
      if (worker.state !== "starting" || worker.isKilledAtStart) return;
      if (chance.happens(dangers.badStart)) {
        this.#die(worker, "exit");
        return;
      }
      worker.state = "up";
      this.starts.connects();
      this.world.tell({ type: "workerReady", worker: id, pid: id });
    });
  }

  /** Carries out an order about processes. */
  carryOut(
    command: Extract<Command, { type: "kill" | "terminate" | "dismiss" | "spawn" | "spawnWide" | "replace" }>,
  ): void {
    const { agenda, chance } = this.world;
    switch (command.type) {
      case "kill": {
        const worker = this.#all.get(command.worker);
        if (worker !== undefined) this.#kill(worker, command.reason);
        return;
      }
      case "terminate": {
        const worker = this.#all.get(command.worker);
        if (worker === undefined) throw new Error("a worker that is dead was terminated");
        worker.endedAt = this.events();
        this.terminated += 1;
        // Some do not listen, and have to be killed.
        if (chance.happens(0.7)) agenda.later(chance.between(1, 50), () => this.#die(worker, "terminate"));
        return;
      }
      case "dismiss": {
        const worker = this.#idle(command.worker, "dismissed");
        this.parked += Number(this.staying <= this.slots);
        worker.isLeaving = true;
        agenda.later(1, () => this.#die(worker, "asked"));
        return;
      }
      case "spawn":
        this.#ordered += 1;
        this.starts.ordered(agenda.now, this.events());
        agenda.later(0, () => this.#spawn(command.memory ?? undefined));
        return;
      case "spawnWide":
        this.starts.ordered(agenda.now, this.events());
        agenda.later(0, () => this.#spawn(undefined, true));
        return;
      case "replace": {
        const worker = this.#idle(command.worker, "replaced");
        worker.isLeaving = true;
        this.#ordered += 1;
        this.starts.ordered(agenda.now, this.events());
        this.replaced += 1;
        agenda.later(0, () => this.#spawn(command.memory));
        agenda.later(1, () => this.#die(worker, "asked"));
        return;
      }
    }
  }

  receive(id: WorkerId, message: ToWorker): void {
    const { agenda, chance } = this.world;
    const worker = this.#all.get(id);
    if (worker === undefined) throw new Error(`a message for worker ${id}, which is dead`);
    switch (message.type) {
      case "operator":
        worker.operators.add(`${message.job}/${message.operator.id}`);
        this.#rules.checkInstances(message);
        return;
      case "run":
        if (worker.endedAt !== null) throw new Error("a task for a worker that is about to end");
        this.#running.start(worker, message.task);
        return;
      case "feed":
      case "feedEnd":
        this.#running.feed(worker, message);
        return;
      case "reserved":
        this.#running.granted(worker, message.range);
        return;
      case "cancel":
        this.#running.cancel(worker, message.task);
        return;
      case "retire": {
        if (!worker.operators.delete(`${message.job}/${message.operator}`)) throw new Error("retired twice");
        const { job, operator } = message;
        agenda.later(delay(chance), () => {
          worker.instances.delete(`${job}/${operator}`);
          if (worker.state === "up") this.#running.say(worker, { type: "retired", job, operator, error: null });
        });
        return;
      }
      case "trim": {
        const { memory } = this;
        if (memory === null) throw new Error("nobody looks at memory here");
        agenda.later(delay(chance), () => {
          if (worker.state !== "up") return;
          const report = { worker: id, ...memory.trim(worker), skipped: [] };
          this.#running.say(worker, { type: "trimmed", request: message.request, report, heap: memory.heapOf(worker) });
        });
        return;
      }
      case "inspect": {
        const { request } = message;
        this.#running.step(worker, () => this.#running.say(worker, { type: "inspected", request, rows: [] }));
        return;
      }
    }
  }

  #kill(worker: SimulatedWorker, reason: KillReason): void {
    const { agenda, chance } = this.world;
    if (reason === "unresponsive") {
      agenda.later(1, () => this.#die(worker, "signal"));
      return;
    }
    if (reason === "neverConnected") {
      this.starts.isGivenUp(agenda.now - worker.begunAt, worker.state);
      worker.isKilledAtStart = true;
      agenda.later(chance.between(1, 30), () => this.#die(worker, "signal"));
      return;
    }
    if (reason === "monitor") {
      this.monitorKills += 1;
      if (this.memory?.isShort !== true) throw new Error("a victim, though the node has memory left");
      for (const { endedAt } of this.#all.values()) {
        if (endedAt !== null && endedAt < this.events()) throw new Error("another victim while one is still dying");
      }
    }
    worker.endedAt ??= this.events();
    agenda.later(chance.between(1, 30), () => this.#die(worker, reason));
  }

  #die(worker: SimulatedWorker, cause: DeathReason): void {
    if (worker.state === "dead") return;
    if (worker.task !== null && cause !== "signal" && cause !== "asked") {
      const { id } = worker.task.order;
      this.shortages.set(id, [...(this.shortages.get(id) ?? []), cause]);
    }
    const { now } = this.world.agenda;
    if (worker.state === "starting") this.starts.failsToStart(now);
    else if (!worker.isWide && isMemoryReason(cause)) this.starts.diesForMemory(now);
    worker.state = "dead";
    worker.task = null;
    this.#all.delete(worker.id);
    const connection = worker.isKilledAtStart ? { connection: "never" as const } : {};
    this.world.tell({ type: "workerGone", worker: worker.id, end: ended({ signal: "SIGKILL", cause, ...connection }) });
  }

  /** Draws only where it can happen, so that sessions without this danger stay what they are. */
  #happens(probability: number): boolean {
    return probability > 0 && this.world.chance.happens(probability);
  }

  get #isBroken(): boolean {
    const { now } = this.world.agenda;
    return this.broken !== null && this.broken.from <= now && now < this.broken.to;
  }

  #idle(id: WorkerId, what: string): SimulatedWorker {
    const worker = this.#all.get(id);
    if (worker === undefined || worker.task !== null) throw new Error(`a busy worker was ${what}`);
    return worker;
  }
}
