/**
 * A world for the scheduler: workers, a program, files and a clock, all invented, all driven by chance from a seed.
 * It checks as it goes what must hold at every moment; what must hold at the end is the test's.
 */
import { apply, emptyState, withStats } from "../../src/events/index.ts";
import type { MemoryPool } from "../../src/memory/index.ts";
import type { JobId, RecordedEvent } from "../../src/protocol/index.ts";
import { type Command, type Event, Scheduler } from "../../src/scheduler/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { schedulerOptions } from "../support/resolved.ts";
import { Agenda } from "./agenda.ts";
import { SimulatedArena } from "./arena.ts";
import type { Chance } from "./chance.ts";
import { SimulatedDisk } from "./disk.ts";
import { ALL_MEMORY, type Dangers, GPUS, type Means, type MemoryMeans, MOST_EXTRA, WORKER_MEMORY } from "./means.ts";
import { SETTINGS } from "./memory.ts";
import { SimulatedProgram } from "./program.ts";
import { MemoryQuestions } from "./questions.ts";
import type { Story } from "./story.ts";
import { delay, type Surroundings } from "./surroundings.ts";
import { SimulatedWorkers } from "./workers.ts";

const MAX_STEPS = 30_000;
/** Where workers hang, a session takes minutes, and the program looks every 50 ms whether a job is over. */
const MAX_STEPS_HANGING = 300_000;

export class World implements Surroundings {
  readonly scheduler: Scheduler;
  readonly agenda = new Agenda();
  readonly arena = new SimulatedArena();
  readonly questions = new MemoryQuestions();
  readonly disk: SimulatedDisk;
  readonly program: SimulatedProgram;
  readonly workers: SimulatedWorkers;
  readonly committed = new Set<JobId>();
  readonly discarded = new Set<JobId>();
  /** What the events come to. */
  readonly state = emptyState();
  events = 0;
  #isOpen = false;
  /** What the scheduler is being told: where it never comes back from, if the watchdog had to end it. */
  handling: Event | null = null;

  constructor(
    readonly chance: Chance,
    { workers, extraWorkers = MOST_EXTRA, pages, managedTarget = null, memory = null, broken = null }: Means,
    readonly dangers: Dangers,
    private readonly story: Story | null = null,
    /** Takes the event stream after every event. */
    private readonly watches: ((events: readonly RecordedEvent[]) => void) | null = null,
  ) {
    this.scheduler = new Scheduler(
      schedulerOptions({
        capacity: pages * PAGE,
        workers,
        extraWorkers,
        managedTarget,
        ...(memory?.isShared === true
          ? { pool: poolOf(memory, workers), automaticLimits: true, workerHeap: memory.limit }
          : {}),
        workerMemory: memory?.limit ?? WORKER_MEMORY,
        ...(memory === null ? {} : { memory: SETTINGS }),
        localityWithOutput: workers % 2 === 0,
        resources: { cpu: workers, gpu: GPUS, memory: memory?.node ?? ALL_MEMORY },
      }),
    );
    this.disk = new SimulatedDisk(chance, dangers, this.arena, (after, event) =>
      this.agenda.later(after, () => this.tell(event())),
    );
    this.program = new SimulatedProgram(this);
    this.workers = new SimulatedWorkers(
      this,
      this.program,
      workers,
      extraWorkers,
      this.scheduler,
      memory,
      broken,
      () => this.events,
    );
    this.program.putPayload();
    this.#isOpen = true;
    this.tell({ type: "open" });
  }

  askedByProgram(answered: () => void): number {
    return this.program.asked(answered);
  }

  get now(): number {
    return this.agenda.now;
  }

  /** Runs until nothing is left to happen. */
  run(): void {
    const { hangingStart, slowStart } = this.dangers;
    const most = hangingStart + slowStart > 0 ? MAX_STEPS_HANGING : MAX_STEPS;
    for (let steps = 0; ; steps++) {
      if (steps > most) throw new Error("it does not end");
      const { nextAt } = this.agenda;
      const alarm = this.scheduler.alarmAt;
      if (alarm !== null && (nextAt === null || alarm < nextAt)) {
        this.agenda.now = Math.max(this.now, alarm);
        this.tell({ type: "tick" });
      } else if (nextAt !== null) this.agenda.runNext();
      else return;
    }
  }

  /** There is work: its memory is looked at. */
  watchMemory(): void {
    this.workers.memory?.watch(() => this.workers.busy > 0 || this.program.isWaiting);
  }

  tell(event: Event): void {
    this.handling = event;
    const commands = this.scheduler.handle(event, this.now);
    this.handling = null;
    const { live, capacity, leaving, onDisk } = this.scheduler.ledger;
    this.story?.add(this.now, event, commands, `${live} of ${capacity} live, ${leaving} leaving, ${onDisk} on disk`);
    const events = this.scheduler.takeEvents();
    for (const one of events) apply(this.state, one);
    this.watches?.(events);
    for (const command of commands) this.#carryOut(command);
    if (this.#isOpen && this.workers.areUp) this.questions.workersAreUp();
    const faults = this.scheduler.faults();
    if (faults.length > 0) throw new Error(`after ${event.type}: ${faults.join("; ")}`);
    if (live > capacity) throw new Error(`${live} bytes are resident, the capacity is ${capacity}`);
    // It looks at everything, so not every time: a broken sum stays broken.
    if (this.events++ % 32 === 0) this.scheduler.ledger.assertConsistent();
  }

  #carryOut(command: Command): void {
    switch (command.type) {
      case "toProgram":
        this.program.receive(command.message);
        return;
      case "toWorker":
        this.workers.receive(command.worker, command.message);
        return;
      case "jobNews":
        this.program.receive(withStats(this.state, command.news, command.at));
        return;
      case "kill":
      case "terminate":
      case "dismiss":
      case "spawn":
      case "spawnWide":
      case "replace":
        this.workers.carryOut(command);
        return;
      case "measure":
        this.agenda.later(0, () => {
          this.workers.memory?.look();
          this.tell({ type: "measured", request: command.request });
        });
        return;
      case "unavailable":
        if (command.error.name === "OutOfMemoryError") this.workers.starts.givenUp(this.events, this.workers.alive);
        return;
      case "commit":
        this.agenda.later(delay(this.chance), () => {
          this.committed.add(command.job);
          this.tell({ type: "committed", job: command.job, error: null });
        });
        return;
      case "discard":
        this.agenda.later(delay(this.chance), () => {
          this.discarded.add(command.job);
          this.tell({ type: "discarded", job: command.job });
        });
        return;
      case "spill":
        this.disk.write(command.blocks);
        return;
      case "restore":
        this.disk.read(command.block);
        return;
      case "unspill":
        this.disk.free(command.places);
        return;
      case "event":
        this.workers.note(command.event);
        return;
      case "workerLimits":
        this.workers.limitIs(command.limit);
        return;
      case "punch":
      case "stage":
        return;
    }
  }
}

/** As much for the program as it has at most without taking memory from the session. */
function poolOf({ node, base }: MemoryMeans, threads: number): MemoryPool {
  return { memory: node, overhead: Math.floor(node / 8), worker: base, threads };
}
