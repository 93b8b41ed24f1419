/** The simulated workers: as many as are wanted, each started, told things, and dead one day. */
import type { ToWorker, WorkerId } from "../../src/protocol/index.ts";
import type { Command, WorkerEnd } from "../../src/scheduler/index.ts";
import { ended } from "../support/ends.ts";
import { WORKER_MEMORY } from "./means.ts";
import type { SimulatedProgram } from "./program.ts";
import { Rules } from "./rules.ts";
import { Running } from "./running.ts";
import { delay, type Surroundings } from "./surroundings.ts";
import type { SimulatedWorker } from "./worker.ts";

const KILLED: Partial<WorkerEnd> = { signal: "SIGKILL" };

export class SimulatedWorkers {
  readonly #all = new Map<WorkerId, SimulatedWorker>();
  readonly #rules: Rules;
  readonly #running: Running;
  #last = 0;
  spawned = 0;
  replaced = 0;
  maxAlive = 0;
  /** Deaths for memory, and how often workers ended so that a task was alone. */
  shortages = 0;
  parked = 0;
  #wanted: number;

  constructor(
    private readonly world: Surroundings,
    program: SimulatedProgram,
    private readonly slots: number,
  ) {
    this.#rules = new Rules(program, this.#all, world.arena);
    this.#running = new Running(world, program, this.#rules, (worker) => this.#die(worker, this.#somehow()));
    this.#wanted = slots;
  }

  /** Without the wide kernel. */
  get alive(): number {
    let count = 0;
    for (const { isWide } of this.#all.values()) if (!isWide) count += 1;
    return count;
  }

  get busy(): number {
    return [...this.#all.values()].filter((worker) => worker.task !== null).length;
  }

  spawn(memory = WORKER_MEMORY, isWide = false): void {
    const { agenda, chance } = this.world;
    if (isWide && [...this.#all.values()].some((one) => one.isWide)) throw new Error("a second wide kernel");
    const id = ++this.#last as WorkerId;
    const worker: SimulatedWorker = {
      id,
      memory,
      isWide,
      state: "starting",
      task: null,
      operators: new Map(),
      instances: new Map(),
    };
    this.#all.set(id, worker);
    this.maxAlive = Math.max(this.maxAlive, this.alive);
    this.world.tell({ type: "workerStarting", worker: id, memory, isWide });
    agenda.later(delay(chance), () => {
      if (worker.state !== "starting") return;
      worker.state = "up";
      this.world.tell({ type: "workerReady", worker: id, pid: id });
    });
  }

  /** Carries out an order about processes. */
  carryOut(command: Extract<Command, { type: "kill" | "dismiss" | "spawn" | "spawnWide" | "replace" | "want" }>): void {
    const { agenda } = this.world;
    switch (command.type) {
      case "kill": {
        const worker = this.#all.get(command.worker);
        if (worker !== undefined) agenda.later(1, () => this.#die(worker, KILLED));
        return;
      }
      case "dismiss": {
        const worker = this.#idle(command.worker, "dismissed");
        agenda.later(1, () => this.#die(worker, KILLED));
        return;
      }
      case "spawn":
        this.spawned += 1;
        agenda.later(0, () => this.spawn(command.memory ?? WORKER_MEMORY));
        return;
      case "spawnWide":
        agenda.later(0, () => this.spawn(WORKER_MEMORY, true));
        return;
      case "want":
        this.#wanted = command.workers;
        this.parked += Number(command.workers < this.slots);
        agenda.later(0, () => this.#replenish());
        return;
      case "replace": {
        const worker = this.#idle(command.worker, "replaced");
        this.replaced += 1;
        agenda.later(0, () => this.spawn(command.memory));
        agenda.later(1, () => this.#die(worker, KILLED));
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
        worker.operators.set(`${message.order.job}/${message.order.operator}`, message.order);
        this.#rules.checkInstances(message.order);
        return;
      case "run":
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
      case "inspect": {
        const { request } = message;
        this.#running.step(worker, () => this.#running.say(worker, { type: "inspected", request, rows: [] }));
        return;
      }
    }
  }

  #die(worker: SimulatedWorker, how: Partial<WorkerEnd>): void {
    if (worker.state === "dead") return;
    worker.state = "dead";
    worker.task = null;
    this.#all.delete(worker.id);
    this.world.tell({ type: "workerGone", worker: worker.id, end: ended(how) });
    this.#replenish();
  }

  #replenish(): void {
    while (this.alive < this.#wanted) this.spawn();
  }

  #somehow(): Partial<WorkerEnd> {
    const { chance, dangers } = this.world;
    if (dangers.oom === 0 || !chance.happens(dangers.oom)) return KILLED;
    this.shortages += 1;
    const cause = chance.oneOf(["heap", "monitor", "monitor", "containerOom", "containerOom", "terminate"] as const);
    return { ...KILLED, cause };
  }

  #idle(id: WorkerId, what: string): SimulatedWorker {
    const worker = this.#all.get(id);
    if (worker === undefined || worker.task !== null) throw new Error(`a busy worker was ${what}`);
    return worker;
  }
}
