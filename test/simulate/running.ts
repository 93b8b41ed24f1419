/** What a simulated task does, step by step: reads its input, asks for room, hands over block after block, ends. */
import { FunctionError, KernelMemoryError, toWire } from "../../src/errors/index.ts";
import type { ArenaRange, DeathReason, HandedOver, TaskOrder, ToWorker } from "../../src/protocol/index.ts";
import type { TaskMessage } from "../../src/scheduler/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { taskReport } from "../support/figures.ts";
import type { SimulatedMemory } from "./memory.ts";
import { partitionOf, rowsOfSplit } from "./plans.ts";
import type { SimulatedProgram } from "./program.ts";
import { isSame, type Rules } from "./rules.ts";
import { delay, longDelay, type Surroundings } from "./surroundings.ts";
import type { Block, SimulatedTask, SimulatedWorker } from "./worker.ts";

export class Running {
  readonly #handedOver = new Map<string, HandedOver[]>();

  constructor(
    private readonly world: Surroundings,
    private readonly program: SimulatedProgram,
    private readonly rules: Rules,
    private readonly memory: SimulatedMemory | null,
    private readonly die: (worker: SimulatedWorker, cause: DeathReason) => void,
    private readonly done: () => void,
  ) {}

  start(worker: SimulatedWorker, order: TaskOrder): void {
    if (worker.task !== null) throw new Error("a second task for one worker");
    if (!worker.operators.has(`${order.job}/${order.operator}`)) throw new Error("a task of an unknown operator");
    this.#checkReplay(worker, order);
    const planned = this.program.jobs.get(order.job)?.planned;
    if (planned === undefined) throw new Error("a task of an unknown job");
    const { arena } = this.world;
    const { input } = order;
    const slices = input.kind === "blocks" ? input.slices : [];
    const sources = slices.map(({ range }) => arena.at(range));
    const rows =
      input.kind === "sql"
        ? rowsOfSplit(input)
        : slices.flatMap(({ start, end }, i) => sources[i]?.slice(start, end) ?? []);
    const unchanged = () => {
      if (slices.some(({ range }, i) => arena.at(range) !== sources[i])) {
        throw new Error("a task's input changed under it");
      }
    };
    this.rules.checkBroadcast(order);
    worker.task = { order, planned, todo: [], rows, inbox: [], unchanged, cancelled: false };
    if (input.kind !== "fed") this.#plan(worker.task);
    this.rules.checkStart(worker, order);
    const { steps = [] } = this.program.operatorOf(order.job, order.operator) ?? {};
    this.memory?.taskBegins(worker, `${order.job}/${order.operator}`, steps.length > 0);
    if (input.kind !== "fed") this.step(worker, () => this.#proceed(worker));
  }

  feed(worker: SimulatedWorker, message: Extract<ToWorker, { type: "feed" | "feedEnd" }>): void {
    const { task } = worker;
    if (task?.order.id !== message.task) throw new Error("input for a task that does not run there");
    task.inbox.push(message);
    if (task.inbox.length === 1) this.step(worker, () => this.#read(worker));
  }

  granted(worker: SimulatedWorker, range: ArenaRange): void {
    this.world.arena.write(range, []);
    this.step(worker, () => this.#handOver(worker, range));
  }

  cancel(worker: SimulatedWorker, task: TaskOrder["id"]): void {
    const { chance, dangers } = this.world;
    if (worker.task?.order.id !== task) throw new Error("a cancel for a task that does not run there");
    worker.task.cancelled = true;
    if (!chance.happens(dangers.deaf)) this.step(worker, () => this.#end(worker, { type: "cancelled", task }));
  }

  /** Something a worker does after a while, unless it dies or is cancelled first. */
  step(worker: SimulatedWorker, run: () => void): void {
    const { agenda, chance, dangers } = this.world;
    const { task } = worker;
    const isSlow = task !== null && !task.cancelled && task.planned.slow?.has(task.order.operator) === true;
    agenda.later(isSlow ? longDelay(chance) : delay(chance), () => {
      if (worker.state === "dead" || worker.task !== task) return;
      // A fed task takes many steps and begins anew each time: as likely as others to die at each, it would never end.
      const death = task?.order.input.kind === "fed" ? dangers.death / 10 : dangers.death;
      if (chance.happens(death)) {
        this.die(worker, this.#causeOfDeath());
        return;
      }
      const victim = task === null ? null : (this.memory?.grow(worker) ?? null);
      if (victim !== null) this.die(victim, "cgroupOom");
      if (victim !== worker) run();
    });
  }

  say(worker: SimulatedWorker, message: TaskMessage): void {
    this.world.tell({ type: "fromWorker", worker: worker.id, message });
  }

  #causeOfDeath(): DeathReason {
    const { chance, dangers } = this.world;
    if (dangers.oom === 0 || !chance.happens(dangers.oom)) return "signal";
    return chance.oneOf(["heap", "monitor", "monitor", "cgroupOom", "cgroupOom", "terminate"]);
  }

  #checkReplay({ isWide }: SimulatedWorker, order: TaskOrder): void {
    const [made] = order.id.split("~");
    const before = this.#handedOver.get(made ?? "") ?? [];
    const known = order.repair === undefined ? before : before.slice(0, order.repair + 1);
    const { place } = this.program.operatorOf(order.job, order.operator) ?? {};
    if ((place === "wide") !== isWide) throw new Error("the wrong place");
    // What a wide task made before it died, nobody has seen.
    if (isWide) this.#handedOver.delete(order.id);
    if (!isSame(isWide ? [] : known, order.handedOver)) throw new Error("a replay of something else");
  }

  /** Looks at the next of what it was sent. */
  #read(worker: SimulatedWorker): void {
    const { task } = worker;
    const message = task?.inbox[0];
    if (task === null || message === undefined || task.cancelled) return;
    task.inbox.shift();
    if (message.type === "feedEnd") {
      this.#plan(task);
      this.step(worker, () => this.#proceed(worker));
      return;
    }
    const rows = message.slices.flatMap(({ range, start, end }) => this.world.arena.at(range).slice(start, end));
    task.rows = [...task.rows, ...rows];
    this.say(worker, { type: "fed", task: task.order.id });
    if (task.inbox.length > 0) this.step(worker, () => this.#read(worker));
  }

  /** Cuts what it has read into the blocks that it is to make. */
  #plan(task: SimulatedTask): void {
    const { order, rows, planned } = task;
    const sink = this.program.operatorOf(order.job, order.operator)?.sink;
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
    task.todo = stillToMake(order, blocks);
  }

  #proceed(worker: SimulatedWorker): void {
    const { chance, dangers } = this.world;
    const { task } = worker;
    if (task === null || task.cancelled) return;
    const { order, todo } = task;
    task.unchanged();
    if (chance.happens(dangers.functionError)) {
      const error = toWire(new FunctionError("boom", "fn", null, null, [], "Error", null));
      this.#end(worker, { type: "failed", task: order.id, error });
      return;
    }
    if (dangers.wideFails > 0 && this.#kernelFails(order)) {
      const error = toWire(new KernelMemoryError("too much", "op", null, 1));
      this.#end(worker, { type: "failed", task: order.id, error });
      return;
    }
    const block = todo[0];
    if (block === undefined) {
      const heap = this.memory?.heapOf(worker) ?? NO_HEAP;
      this.#end(worker, {
        type: "done",
        task: order.id,
        report: taskReport({ rowsIn: task.rows.length, rowsOut: task.rows.length }),
        heap,
        left: 0,
      });
      return;
    }
    const bytes = Math.ceil(bytesOf(task, block.rows) * 1.5);
    this.say(worker, { type: "reserve", task: order.id, bytes });
  }

  #kernelFails({ job, operator }: TaskOrder): boolean {
    const { chance, dangers } = this.world;
    return this.program.operatorOf(job, operator)?.otherWay !== undefined && chance.happens(dangers.wideFails);
  }

  #handOver(worker: SimulatedWorker, range: ArenaRange): void {
    const { task } = worker;
    const block = task?.todo.shift();
    if (task === null || block === undefined) throw new Error("room for nothing");
    if (task.cancelled) return;
    if (task.order.tellsBatch === true && this.memory !== null) {
      this.say(worker, { type: "firstBatch", task: task.order.id, ...this.memory.tookBy(worker) });
    }
    this.world.arena.write(range, block.rows);
    const { rows, partition } = block;
    const made = { rows: rows.length, length: bytesOf(task, rows), checksum: rows[0] ?? 0 };
    const { id, repair } = task.order;
    if (repair === undefined) this.#handedOver.set(id, [...(this.#handedOver.get(id) ?? []), made]);
    this.say(worker, { type: "output", task: id, range, ...made, ...(partition === undefined ? {} : { partition }) });
    this.step(worker, () => this.#proceed(worker));
  }

  #end(worker: SimulatedWorker, message: TaskMessage): void {
    worker.task = null;
    if (message.type === "done") this.done();
    const took = this.memory?.tookBy(worker) ?? {};
    this.memory?.taskOver(worker);
    if (message.type !== "done") this.say(worker, message);
    else this.say(worker, { ...message, report: { ...message.report, ...took }, left: worker.private });
  }
}

const NO_HEAP = { used: 0, limit: 1 };

function stillToMake({ repair, handedOver }: TaskOrder, blocks: Block[]): Block[] {
  if (repair === undefined) return blocks.slice(handedOver.length);
  const block = blocks[repair];
  if (block === undefined) throw new Error("a repair of a block that never was");
  return [block];
}

function bytesOf(task: SimulatedTask, block: readonly number[]): number {
  const growth = task.planned.growth?.get(task.order.operator) ?? 1;
  return Math.max(1, Math.ceil(block.length * task.planned.pagesPerRow * growth * PAGE));
}
