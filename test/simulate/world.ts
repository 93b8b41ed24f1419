/**
 * A world for the scheduler: workers, a program, files and a clock, all invented, all driven by chance from a seed.
 * It checks as it goes what must hold at every moment; what must hold at the end is the test's.
 */
import { FunctionError, toWire } from "../../src/errors/index.ts";
import type {
  ArenaRange,
  BlockSlice,
  HandedOver,
  JobId,
  JobStats,
  OperatorOrder,
  TaskOperator,
  TaskOrder,
  TaskReport,
  ToProgram,
  ToWorker,
  WorkerId,
} from "../../src/protocol/index.ts";
import { type Command, type Event, type JobMessage, Scheduler, type TaskMessage } from "../../src/scheduler/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { ended } from "../support/ends.ts";
import type { Chance } from "./chance.ts";
import { SimulatedDisk } from "./disk.ts";
import { PAYLOAD, type PlannedJob, partitionOf, rowsOfSplit } from "./plans.ts";
import type { Story } from "./story.ts";

interface Block {
  readonly rows: number[];
  readonly partition?: number;
}

interface FakeTask {
  readonly order: TaskOrder;
  readonly planned: PlannedJob;
  /** Blocks it still has to hand over. */
  todo: Block[];
  rows: readonly number[];
  /** What it was sent and has not looked at; of a fed task. */
  readonly inbox: Extract<ToWorker, { type: "feed" | "feedEnd" }>[];
  /** What it reads must be what it was as long as it runs. */
  unchanged(): void;
  cancelled: boolean;
}

interface FakeWorker {
  readonly id: WorkerId;
  readonly memory: number;
  readonly isWide: boolean;
  state: "starting" | "up" | "dead";
  task: FakeTask | null;
  readonly operators: Map<string, OperatorOrder>;
  /** GPUs of classes' instances. */
  readonly instances: Map<string, { readonly devices: readonly string[]; readonly amount: number }>;
}

export interface RunningJob {
  readonly planned: PlannedJob;
  readonly received: number[];
  /** The program keeps all it gets, instead of giving it back. */
  readonly kept: BlockSlice[] | null;
  outcome: "running" | "finished" | "failed" | "cancelled";
  error: string | null;
  rows: number;
  stats: JobStats | null;
  wanted: number;
  got: number;
  /** Output blocks that the program has and has not given back or kept. */
  unread: number;
  /** The program forgets the job with so many blocks; those it has then, it neither gives back nor keeps. */
  readonly abandonedAfter: number | null;
  readonly forgotten: BlockSlice[];
}

export interface Consumption {
  readonly keeps?: boolean;
  readonly abandonedAfter?: number | null;
}

export interface Dangers {
  /** Probability of a worker's death at each of its steps. */
  readonly death: number;
  readonly functionError: number;
  /** A cancelled task that never answers. */
  readonly deaf: number;
  readonly cancelJob: number;
  /** The program stops reading for a long time. */
  readonly pause: number;
  /** A write finds no room on disk; a file is not what was written; the disk takes its time. */
  readonly diskFull: number;
  readonly damage: number;
  readonly slowDisk: number;
}

/** What the session is given. */
export interface Means {
  readonly workers: number;
  readonly pages: number;
  readonly managedTarget?: number | null;
}

const MAX_STEPS = 30_000;
/** Units of memory that a worker has, and all of them together. */
export const WORKER_MEMORY = 10;
export const ALL_MEMORY = 40;
export const GPUS = 2;

export class World {
  readonly scheduler: Scheduler;
  readonly jobs = new Map<JobId, RunningJob>();
  readonly #chance: Chance;
  readonly #dangers: Dangers;
  readonly #workers = new Map<WorkerId, FakeWorker>();
  readonly #slots: number;
  /** What is written where: reading a range that was given away shows as wrong rows. */
  readonly #arena = new Map<number, readonly number[]>();
  readonly disk: SimulatedDisk;
  readonly #handedOver = new Map<string, HandedOver[]>();
  readonly #agenda: { at: number; order: number; run: () => void }[] = [];
  readonly #answers = new Map<number, (message: ToProgram) => void>();
  readonly committed = new Set<JobId>();
  readonly discarded = new Set<JobId>();
  #now = 0;
  #events = 0;
  #order = 0;
  #lastWorker = 0;
  /** What the scheduler is being told: where it never comes back from, if the watchdog had to end it. */
  handling: Event | null = null;
  spawned = 0;
  replaced = 0;
  maxAlive = 0;

  constructor(
    chance: Chance,
    { workers, pages, managedTarget = null }: Means,
    dangers: Dangers,
    private readonly story: Story | null = null,
  ) {
    this.#chance = chance;
    this.#dangers = dangers;
    this.#slots = workers;
    const capacity = pages * PAGE;
    this.scheduler = new Scheduler({
      arenaSize: capacity * 8,
      capacity,
      workers,
      heapLimit: null,
      managedTarget,
      workerMemory: WORKER_MEMORY,
      localityWithOutput: workers % 2 === 0,
      resources: { cpu: workers, gpu: GPUS, memory: ALL_MEMORY },
    });
    this.disk = new SimulatedDisk(chance, dangers, this.#arena, (delay, event) =>
      this.later(delay, () => this.tell(event())),
    );
    this.#putPayload();
    for (let i = 0; i < workers; i++) this.#spawn();
  }

  #putPayload(): void {
    let range: ArenaRange | null = null;
    this.#answers.set(-1, (answer) => {
      if (answer.type === "reserved") range = answer.range;
    });
    this.fromProgram({ type: "reserve", request: -1, bytes: 1 });
    if (range === null) throw new Error("no room for the payload");
    this.#write(range, []);
    this.fromProgram({ type: "seal", request: -2, range, length: 1, rows: 0, checksum: 0 });
  }

  /** The program is through with everything. */
  close(): void {
    this.fromProgram({ type: "release", blocks: [PAYLOAD] });
  }

  get events(): number {
    return this.#events;
  }

  get now(): number {
    return this.#now;
  }

  get liveWorkers(): number {
    return this.#ordinary.length;
  }

  get #ordinary(): readonly FakeWorker[] {
    return [...this.#workers.values()].filter(({ isWide }) => !isWide);
  }

  get busyWorkers(): number {
    return [...this.#workers.values()].filter((worker) => worker.task !== null).length;
  }

  /** Runs until nothing is left to happen. */
  run(): void {
    for (let steps = 0; ; steps++) {
      if (steps > MAX_STEPS) throw new Error("it does not end");
      const next = this.#agenda[0];
      const alarm = this.scheduler.alarmAt;
      if (alarm !== null && (next === undefined || alarm < next.at)) {
        this.#now = Math.max(this.#now, alarm);
        this.tell({ type: "tick" });
      } else if (next !== undefined) {
        this.#agenda.shift();
        this.#now = next.at;
        next.run();
      } else return;
    }
  }

  later(delay: number, run: () => void): void {
    const entry = { at: this.#now + delay, order: this.#order++, run };
    let at = this.#agenda.length;
    while (at > 0) {
      const before = this.#agenda[at - 1];
      if (before === undefined || before.at <= entry.at) break;
      at -= 1;
    }
    this.#agenda.splice(at, 0, entry);
  }

  tell(event: Event): void {
    this.handling = event;
    const commands = this.scheduler.handle(event, this.#now);
    this.handling = null;
    const { live, capacity, leaving, onDisk } = this.scheduler.ledger;
    this.story?.add(this.#now, event, commands, `${live} of ${capacity} live, ${leaving} leaving, ${onDisk} on disk`);
    for (const command of commands) this.#carryOut(command);
    if (live > capacity) throw new Error(`${live} bytes are resident, the capacity is ${capacity}`);
    // It looks at everything, so not every time: a broken sum stays broken.
    if (this.#events++ % 32 === 0) this.scheduler.ledger.assertConsistent();
  }

  fromProgram(message: JobMessage): void {
    this.tell({ type: "fromProgram", message });
  }

  start(planned: PlannedJob, { keeps = false, abandonedAfter = null }: Consumption = {}): RunningJob {
    const job: RunningJob = {
      planned,
      received: [],
      kept: keeps ? [] : null,
      outcome: "running",
      error: null,
      rows: 0,
      stats: null,
      wanted: 0,
      got: 0,
      unread: 0,
      abandonedAfter,
      forgotten: [],
    };
    this.jobs.set(planned.spec.id, job);
    this.fromProgram({ type: "start", job: planned.spec });
    this.want(job, this.#chance.between(1, 4));
    return job;
  }

  want(job: RunningJob, blocks: number): void {
    job.wanted += blocks;
    this.fromProgram({ type: "want", job: job.planned.spec.id, blocks });
  }

  cancel(job: RunningJob): void {
    if (job.outcome !== "running") return;
    job.outcome = "cancelled";
    this.fromProgram({ type: "cancel", job: job.planned.spec.id });
  }

  /** The end of the session, for a job that the program has forgotten. */
  giveUp(job: RunningJob): void {
    this.cancel(job);
    const blocks = job.forgotten.splice(0).map(({ block }) => block.id);
    if (blocks.length > 0) this.fromProgram({ type: "release", blocks });
  }

  /** Blocks that the program keeps for a while. */
  keep(pages: number, forHowLong: number): void {
    const request = this.#order++;
    this.#answers.set(request, (answer) => {
      if (answer.type !== "reserved") return;
      this.#write(answer.range, []);
      const seal = this.#order++;
      this.#answers.set(seal, (sealed) => {
        if (sealed.type !== "sealed") throw new Error(`sealing was answered by ${sealed.type}`);
        this.later(forHowLong, () => this.fromProgram({ type: "release", blocks: [sealed.block.id] }));
      });
      this.later(1, () =>
        this.fromProgram({
          type: "seal",
          request: seal,
          range: answer.range,
          length: pages * PAGE,
          rows: 0,
          checksum: 0,
        }),
      );
    });
    this.fromProgram({ type: "reserve", request, bytes: pages * PAGE });
  }

  inspect(onAnswer: (type: string) => void): void {
    const request = this.#order++;
    this.#answers.set(request, (answer) => onAnswer(answer.type));
    this.fromProgram({ type: "inspect", request, sql: "", maxRetries: 1 });
  }

  #carryOut(command: Command): void {
    switch (command.type) {
      case "toProgram":
        this.#toProgram(command.message);
        return;
      case "toWorker": {
        const worker = this.#workers.get(command.worker);
        if (worker === undefined) throw new Error(`a message for worker ${command.worker}, which is dead`);
        this.#toWorker(worker, command.message);
        return;
      }
      case "kill": {
        const worker = this.#workers.get(command.worker);
        if (worker !== undefined) this.later(1, () => this.#die(worker, false));
        return;
      }
      case "dismiss": {
        const worker = this.#workers.get(command.worker);
        if (worker === undefined || worker.task !== null) throw new Error("a busy worker was dismissed");
        this.later(1, () => this.#die(worker, false));
        return;
      }
      case "spawn":
        this.spawned += 1;
        this.later(0, () => this.#spawn(command.memory ?? WORKER_MEMORY));
        return;
      case "spawnWide":
        this.later(0, () => this.#spawn(WORKER_MEMORY, true));
        return;
      case "want":
        throw new Error("nobody counts memory here");
      case "replace": {
        const worker = this.#workers.get(command.worker);
        if (worker === undefined || worker.task !== null) throw new Error("a busy worker was replaced");
        this.replaced += 1;
        this.later(0, () => this.#spawn(command.memory));
        this.later(1, () => this.#die(worker, false));
        return;
      }
      case "commit":
        this.later(this.#delay(), () => {
          this.committed.add(command.job);
          this.tell({ type: "committed", job: command.job, error: null });
        });
        return;
      case "discard":
        this.later(this.#delay(), () => {
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
      case "punch":
      case "stage":
        return;
    }
  }

  #toProgram(message: ToProgram): void {
    if ("request" in message) {
      const answer = this.#answers.get(message.request);
      this.#answers.delete(message.request);
      answer?.(message);
      return;
    }
    if (message.type === "welcome" || message.type === "notice" || message.type === "event") return;
    const job = this.jobs.get(message.job);
    if (job === undefined) throw new Error(`a word about an unknown job ${message.job}`);
    if (message.type === "output") this.#receive(job, message);
    else if (job.outcome !== "running") throw new Error(`${message.type} after the job was ${job.outcome}`);
    else if (message.type === "finished" || message.type === "failed") {
      job.outcome = message.type;
      job.stats = message.stats;
      if (message.type === "failed") job.error = `${message.error.name}: ${message.error.message}`;
      else job.rows = message.rows;
    }
  }

  #receive(job: RunningJob, { slice, range, copy }: Extract<ToProgram, { type: "output" }>): void {
    if (job.outcome !== "running") throw new Error(`output after the job was ${job.outcome}`);
    job.got += 1;
    if (job.got > job.wanted) throw new Error("more output than the program wanted");
    const source = this.#at(range);
    const rows = source.slice(slice.start, slice.end);
    if (rows.length !== slice.end - slice.start) throw new Error(`block ${slice.block.id} is not what it was`);
    job.received.push(...rows);
    job.unread += 1;
    job.kept?.push(slice);
    const isCopied = copy && job.kept === null;
    if (isCopied) this.later(1, () => this.fromProgram({ type: "release", blocks: [slice.block.id] }));
    if (job.abandonedAfter !== null && job.got > job.abandonedAfter) {
      if (!isCopied) job.forgotten.push(slice);
      return;
    }
    const pause = this.#chance.happens(this.#dangers.pause) ? 5_000 : this.#delay();
    this.later(pause, () => {
      job.unread -= 1;
      if (!isCopied) {
        if (this.#at(range) !== source) throw new Error("a block changed while the program held it");
        this.fromProgram({ type: job.kept === null ? "release" : "keep", blocks: [slice.block.id] });
      }
      if (job.outcome === "running") this.want(job, 1);
    });
  }

  /** What the program has kept of a job's output goes. */
  letGo(job: RunningJob): void {
    const kept = job.kept?.splice(0) ?? [];
    if (kept.length > 0) this.fromProgram({ type: "release", blocks: kept.map(({ block }) => block.id) });
  }

  #spawn(memory = WORKER_MEMORY, isWide = false): void {
    if (isWide && [...this.#workers.values()].some((one) => one.isWide)) throw new Error("a second wide kernel");
    const id = ++this.#lastWorker as WorkerId;
    const worker: FakeWorker = {
      id,
      memory,
      isWide,
      state: "starting",
      task: null,
      operators: new Map(),
      instances: new Map(),
    };
    this.#workers.set(id, worker);
    this.maxAlive = Math.max(this.maxAlive, this.liveWorkers);
    this.tell({ type: "workerStarting", worker: id, memory, isWide });
    this.later(this.#delay(), () => {
      if (worker.state !== "starting") return;
      worker.state = "up";
      this.tell({ type: "workerReady", worker: id, pid: id });
    });
  }

  #die(worker: FakeWorker, outOfHeap: boolean): void {
    if (worker.state === "dead") return;
    worker.state = "dead";
    worker.task = null;
    this.#workers.delete(worker.id);
    const end = ended({ signal: "SIGKILL", ...(outOfHeap ? { cause: "heap" } : {}) });
    this.tell({ type: "workerGone", worker: worker.id, end });
    if (this.liveWorkers < this.#slots) this.#spawn();
  }

  #toWorker(worker: FakeWorker, message: ToWorker): void {
    switch (message.type) {
      case "operator":
        worker.operators.set(`${message.order.job}/${message.order.operator}`, message.order);
        this.#checkInstances(message.order);
        return;
      case "run":
        this.#startTask(worker, message.task);
        return;
      case "feed":
      case "feedEnd": {
        const { task } = worker;
        if (task?.order.id !== message.task) throw new Error("input for a task that does not run there");
        task.inbox.push(message);
        if (task.inbox.length === 1) this.#step(worker, () => this.#read(worker));
        return;
      }
      case "reserved":
        this.#write(message.range, []);
        this.#step(worker, () => this.#handOver(worker, message.range));
        return;
      case "cancel":
        if (worker.task?.order.id !== message.task) throw new Error("a cancel for a task that does not run there");
        worker.task.cancelled = true;
        if (!this.#chance.happens(this.#dangers.deaf)) {
          this.#step(worker, () => this.#end(worker, { type: "cancelled", task: message.task }));
        }
        return;
      case "retire": {
        if (!worker.operators.delete(`${message.job}/${message.operator}`)) throw new Error("retired twice");
        const { job, operator } = message;
        this.later(this.#delay(), () => {
          worker.instances.delete(`${job}/${operator}`);
          if (worker.state === "up") this.#say(worker, { type: "retired", job, operator, error: null });
        });
        return;
      }
      case "inspect": {
        const { request } = message;
        this.#step(worker, () => this.#say(worker, { type: "inspected", request, rows: [] }));
        return;
      }
    }
  }

  #checkInstances(order: OperatorOrder): void {
    if (!order.steps.some((step) => step.kind === "function" && step.isClass)) return;
    const key = `${order.job}/${order.operator}`;
    const instances = [...this.#workers.values()].filter((worker) => worker.operators.has(key)).length;
    if (instances > this.#concurrencyOf(order.job, order.operator)) throw new Error(`${instances} instances of ${key}`);
  }

  #concurrencyOf(job: JobId, id: number): number {
    return this.#operatorOf(job, id)?.concurrency.max ?? 0;
  }

  #operatorOf(job: JobId, id: number): TaskOperator | null {
    const operator = this.jobs.get(job)?.planned.spec.operators.find((one) => one.id === id);
    return operator?.kind === "tasks" ? operator : null;
  }

  #startTask(worker: FakeWorker, order: TaskOrder): void {
    if (worker.task !== null) throw new Error("a second task for one worker");
    if (!worker.operators.has(`${order.job}/${order.operator}`)) throw new Error("a task of an unknown operator");
    const [made] = order.id.split("~");
    const before = this.#handedOver.get(made ?? "") ?? [];
    const known = order.repair === undefined ? before : before.slice(0, order.repair + 1);
    const { isWide } = worker;
    if ((this.#operatorOf(order.job, order.operator)?.place === "wide") !== isWide) throw new Error("the wrong place");
    // What a wide task made before it died, nobody has seen.
    if (isWide) this.#handedOver.delete(order.id);
    if (!isSame(isWide ? [] : known, order.handedOver)) throw new Error("a replay of something else");
    const planned = this.jobs.get(order.job)?.planned;
    if (planned === undefined) throw new Error("a task of an unknown job");
    const { input } = order;
    const slices = input.kind === "blocks" ? input.slices : [];
    const sources = slices.map(({ range }) => this.#at(range));
    const rows =
      input.kind === "sql"
        ? rowsOfSplit(input)
        : slices.flatMap(({ start, end }, i) => sources[i]?.slice(start, end) ?? []);
    // What is written into a range is another array each time, so the same array is the same rows.
    const unchanged = () => {
      if (slices.some(({ range }, i) => this.#at(range) !== sources[i])) {
        throw new Error("a task's input changed under it");
      }
    };
    this.#checkBroadcast(order);
    worker.task = { order, planned, todo: [], rows, inbox: [], unchanged, cancelled: false };
    if (input.kind !== "fed") this.#plan(worker.task);
    const running = [...this.#workers.values()].filter(
      ({ task }) =>
        task?.order.job === order.job && task.order.operator === order.operator && task.order.repair === undefined,
    );
    if (order.repair === undefined && running.length > this.#concurrencyOf(order.job, order.operator))
      throw new Error("over its concurrency");
    this.#checkMemory(worker);
    this.#checkDevices(worker, order);
    if (input.kind !== "fed") this.#step(worker, () => this.#proceed(worker));
  }

  /** Looks at the next of what it was sent. */
  #read(worker: FakeWorker): void {
    const { task } = worker;
    const message = task?.inbox[0];
    if (task === null || message === undefined || task.cancelled) return;
    task.inbox.shift();
    if (message.type === "feedEnd") {
      this.#plan(task);
      this.#step(worker, () => this.#proceed(worker));
      return;
    }
    const rows = message.slices.flatMap(({ range, start, end }) => this.#at(range).slice(start, end));
    task.rows = [...task.rows, ...rows];
    this.#say(worker, { type: "fed", task: task.order.id });
    if (task.inbox.length > 0) this.#step(worker, () => this.#read(worker));
  }

  /** Cuts what it has read into the blocks that it is to make. */
  #plan(task: FakeTask): void {
    const { order, rows, planned } = task;
    const sink = this.#operatorOf(order.job, order.operator)?.sink;
    if (sink?.kind !== "blocks") return;
    const size = planned.rowsPerBlock.get(order.operator) ?? 1;
    const { scatter } = sink;
    const blocks: Block[] = [];
    for (let i = 0; i < (scatter ?? 1); i++) {
      const own = scatter === undefined ? rows : rows.filter((row) => partitionOf(row, scatter) === i);
      for (let at = 0; at < own.length; at += size) {
        blocks.push({ rows: own.slice(at, at + size), ...(scatter === undefined ? {} : { partition: i }) });
      }
    }
    task.todo = this.#todo(order, blocks);
  }

  /** Every task has all of it, each time. */
  #checkBroadcast({ job, operator, broadcast }: TaskOrder): void {
    const spec = this.#operatorOf(job, operator);
    for (const [i, table] of (spec?.broadcast ?? []).entries()) {
      const splits = table.operators.flatMap((id) => {
        const input = this.#operatorOf(job, id)?.input;
        return input?.kind === "splits" ? input.splits : [];
      });
      const expected = splits.flatMap((split) => (split.kind === "sql" ? rowsOfSplit(split) : []));
      const rows = (broadcast[i] ?? []).flatMap(({ range, start, end }) => this.#at(range).slice(start, end));
      if (rows.length !== expected.length || rows.some((row) => !expected.includes(row))) {
        throw new Error(`a broadcast table has the rows ${rows}, not ${expected}`);
      }
    }
  }

  #todo({ repair, handedOver }: TaskOrder, blocks: Block[]): Block[] {
    if (repair === undefined) return blocks.slice(handedOver.length);
    const block = blocks[repair];
    if (block === undefined) throw new Error("a repair of a block that never was");
    return [block];
  }

  #checkMemory(worker: FakeWorker): void {
    const needs = ({ task }: FakeWorker) =>
      task === null ? 0 : (this.#operatorOf(task.order.job, task.order.operator)?.request.memory ?? 0);
    if (needs(worker) > worker.memory) throw new Error("a task that needs more memory than its worker has");
    const all = [...this.#workers.values()].reduce((sum, one) => sum + needs(one), 0);
    if (all > ALL_MEMORY) throw new Error(`tasks have ${all} of ${ALL_MEMORY} memory`);
  }

  #checkDevices(worker: FakeWorker, order: TaskOrder): void {
    const operator = this.#operatorOf(order.job, order.operator);
    const amount = operator?.request.gpu ?? 0;
    const { devices } = order;
    if (devices === null || new Set(devices).size !== Math.ceil(amount))
      throw new Error(`${devices} for ${amount} GPUs`);
    if (amount === 0) return;
    const key = `${order.job}/${order.operator}`;
    const isClass = operator?.steps.some((step) => step.kind === "function" && step.isClass) === true;
    const instance = worker.instances.get(key);
    if (isClass && amount > 0) {
      if (instance !== undefined && instance.devices.join() !== devices.join()) throw new Error("another device");
      worker.instances.set(key, { devices, amount });
    }
    const load = new Map<string, number>();
    for (const { task, instances } of this.#workers.values()) {
      const held = [...instances.values()];
      if (task !== null && !instances.has(`${task.order.job}/${task.order.operator}`)) {
        const gpu = this.#operatorOf(task.order.job, task.order.operator)?.request.gpu ?? 0;
        held.push({ devices: task.order.devices ?? [], amount: gpu });
      }
      for (const one of held) {
        for (const name of one.devices) load.set(name, (load.get(name) ?? 0) + Math.min(1, one.amount));
      }
    }
    for (const [name, amountOf] of load)
      if (amountOf > 1) throw new Error(`GPU ${name} is given away ${amountOf} times`);
  }

  /** Something a worker does after a while, unless it dies or is cancelled first. */
  #step(worker: FakeWorker, run: () => void): void {
    const { task } = worker;
    this.later(this.#delay(), () => {
      if (worker.state === "dead" || worker.task !== task) return;
      // A fed task takes many steps and begins anew each time: as likely as others to die at each, it would never end.
      const death = task?.order.input.kind === "fed" ? this.#dangers.death / 10 : this.#dangers.death;
      if (this.#chance.happens(death)) this.#die(worker, false);
      else run();
    });
  }

  #proceed(worker: FakeWorker): void {
    const { task } = worker;
    if (task === null || task.cancelled) return;
    const { order, todo } = task;
    task.unchanged();
    if (this.#chance.happens(this.#dangers.functionError)) {
      const error = toWire(new FunctionError("boom", "fn", null, null, [], "Error", null));
      this.#end(worker, { type: "failed", task: order.id, error });
      return;
    }
    const block = todo[0];
    if (block === undefined) {
      this.#end(worker, { type: "done", task: order.id, report: reportOf(task.rows.length) });
      return;
    }
    const bytes = Math.ceil(this.#bytesOf(task, block.rows) * 1.5);
    this.#say(worker, { type: "reserve", task: order.id, bytes });
  }

  #bytesOf(task: FakeTask, block: readonly number[]): number {
    const growth = task.planned.growth?.get(task.order.operator) ?? 1;
    return Math.max(1, Math.ceil(block.length * task.planned.pagesPerRow * growth * PAGE));
  }

  #handOver(worker: FakeWorker, range: ArenaRange): void {
    const { task } = worker;
    const block = task?.todo.shift();
    if (task === null || block === undefined) throw new Error("room for nothing");
    if (task.cancelled) return;
    this.#write(range, block.rows);
    const { rows, partition } = block;
    const made = { rows: rows.length, length: this.#bytesOf(task, rows), checksum: rows[0] ?? 0 };
    const { id, repair } = task.order;
    if (repair === undefined) this.#handedOver.set(id, [...(this.#handedOver.get(id) ?? []), made]);
    this.#say(worker, { type: "output", task: id, range, ...made, ...(partition === undefined ? {} : { partition }) });
    this.#step(worker, () => this.#proceed(worker));
  }

  #end(worker: FakeWorker, message: TaskMessage): void {
    worker.task = null;
    this.#say(worker, message);
  }

  #say(worker: FakeWorker, message: TaskMessage): void {
    this.tell({ type: "fromWorker", worker: worker.id, message });
  }

  #write(range: ArenaRange, rows: readonly number[]): void {
    this.#arena.set(range.offset, rows);
  }

  #at(range: ArenaRange): readonly number[] {
    const rows = this.#arena.get(range.offset);
    if (rows === undefined) throw new Error(`there is nothing at ${range.offset}`);
    return rows;
  }

  #delay(): number {
    return this.#chance.happens(0.1) ? this.#chance.between(10, 300) : this.#chance.between(1, 10);
  }
}

function isSame(before: readonly HandedOver[], now: readonly HandedOver[]): boolean {
  if (before.length !== now.length) return false;
  return before.every((one, i) => {
    const other = now[i];
    return one.rows === other?.rows && one.length === other.length && one.checksum === other.checksum;
  });
}

function reportOf(rows: number): TaskReport {
  return { rowsIn: rows, rowsOut: rows, bytesOut: 0, wall: 1, cpu: 1, peakMemory: 0, errored: 0, files: [] };
}
