/**
 * The scheduler at scale, in a world that costs next to nothing: no rows, no chance, no delays, every answer is next in
 * line. Says how many events a second the scheduler handles, and how much it remembers of each block.
 */
import type { Split, ToProgram, ToWorker, WorkerId } from "../../src/protocol/index.ts";
import { type Command, type Event, Scheduler } from "../../src/scheduler/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { taskReport } from "../support/figures.ts";
import { schedulerOptions } from "../support/resolved.ts";
import { job, tasks } from "./plans.ts";

const SPLIT: Split = { kind: "sql", sql: "", files: [] };
const HEAP = { used: 1, limit: 2 };
const REPORT = taskReport({ rowsIn: 1, rowsOut: 1 });
const COLUMNS = ["a", "b", "c"];
/** Below a page, and above: a block takes two pages until it is sealed, then one. */
const [RESERVED, LENGTH] = [PAGE + 1, PAGE - 96];

export interface BigOptions {
  readonly workers: number;
  /** For how many workers the bounds of queues are. */
  readonly slots?: number;
  /** Blocks that are made, of all operators. */
  readonly blocks: number;
  /** Blocks that the store holds. */
  readonly capacity: number;
  /** What becomes of the result: counted, kept by the program, or not asked for. */
  readonly result: "counted" | "kept" | "left";
}

export class BigWorld {
  readonly scheduler: Scheduler;
  readonly #events: Event[] = [];
  readonly #splits: readonly Split[];
  #next = 0;
  #files = 0;
  handled = 0;
  rows = 0;
  isFinished = false;

  constructor(private readonly options: BigOptions) {
    const { workers, slots = workers, blocks, capacity, result } = options;
    this.scheduler = new Scheduler(
      schedulerOptions({ arenaSize: capacity * PAGE * 4, capacity: capacity * PAGE, workers: slots }),
    );
    const stages = result === "counted" ? 2 : 1;
    this.#splits = new Array<Split>(blocks / stages).fill(SPLIT);
    for (let id = 1; id <= workers; id++) {
      this.#events.push({ type: "workerStarting", worker: id as WorkerId });
      this.#events.push({ type: "workerReady", worker: id as WorkerId, pid: id });
    }
    this.run();
  }

  /** read → function → function → count, or read → the program. */
  start(): void {
    const { result } = this.options;
    const most = { concurrency: { min: 1, max: Number.MAX_SAFE_INTEGER } };
    const read = tasks(0, { kind: "splits", splits: this.#splits }, most);
    const operators =
      result === "counted"
        ? [
            read,
            tasks(1, { kind: "operators", operators: [0] }, most),
            tasks(2, { kind: "operators", operators: [1] }, { ...most, sink: { kind: "count" } }),
          ]
        : [read];
    const spec = job("big", operators);
    this.#events.push({ type: "fromProgram", message: { type: "start", job: spec } });
    if (result === "kept")
      this.#events.push({ type: "fromProgram", message: { type: "want", job: spec.id, blocks: 4 } });
  }

  /** Until nothing is left to happen. */
  run(): void {
    for (let event = this.#take(); event !== undefined; event = this.#take()) {
      this.handled += 1;
      for (const command of this.scheduler.handle(event, this.handled / 100)) this.#carryOut(command);
      this.scheduler.takeEvents();
    }
  }

  #take(): Event | undefined {
    const event = this.#events[this.#next++];
    if (event !== undefined && (this.#next < 65_536 || this.#next * 2 < this.#events.length)) return event;
    this.#events.splice(0, event === undefined ? this.#events.length : this.#next);
    this.#next = 0;
    return event;
  }

  #carryOut(command: Command): void {
    switch (command.type) {
      case "toWorker":
        this.#toWorker(command.worker, command.message);
        return;
      case "toProgram":
        this.#toProgram(command.message);
        return;
      case "jobNews":
        if (command.news.type !== "finished") return;
        this.isFinished = true;
        this.rows = command.news.rows;
        return;
      case "spill": {
        const file = ++this.#files;
        const blocks = command.blocks.map(({ id }, offset) => ({
          id,
          place: { file, offset, stored: LENGTH, codec: "none" as const },
        }));
        this.#events.push({ type: "spilled", blocks });
        return;
      }
      case "restore":
        this.#events.push({ type: "restored", block: command.block.id });
        return;
      default:
        return;
    }
  }

  #toWorker(worker: WorkerId, message: ToWorker): void {
    if (message.type === "run") {
      const { id, operator } = message.task;
      this.#events.push({
        type: "fromWorker",
        worker,
        message:
          operator === 2
            ? { type: "done", task: id, report: REPORT, heap: HEAP, left: 0 }
            : { type: "reserve", task: id, bytes: RESERVED },
      });
    } else if (message.type === "reserved") {
      const { task, range } = message;
      const made = { range, rows: 1, length: LENGTH, checksum: 0xdeadbeef, columns: [...COLUMNS] };
      this.#events.push({ type: "fromWorker", worker, message: { type: "output", task, ...made } });
      this.#events.push({
        type: "fromWorker",
        worker,
        message: { type: "done", task, report: REPORT, heap: HEAP, left: 0 },
      });
    }
  }

  #toProgram(message: ToProgram): void {
    if (message.type === "output") {
      this.#events.push({ type: "fromProgram", message: { type: "keep", blocks: [message.slice.block.id] } });
      this.#events.push({ type: "fromProgram", message: { type: "want", job: message.job, blocks: 1 } });
    } else if (message.type === "failed") throw new Error(message.error.message);
  }
}

/** Events a second that the scheduler handles, the world included. */
export function decisionsPerSecond(workers: number, blocks: number): number {
  // Each worker's block in the making and as much again in queues.
  const world = new BigWorld({ workers, blocks, capacity: 100 + 40 * workers, result: "counted" });
  const before = world.handled;
  const begun = process.cpuUsage();
  world.start();
  world.run();
  const { user, system } = process.cpuUsage(begun);
  if (!world.isFinished || world.rows !== blocks / 2) throw new Error(`${world.rows} rows of ${blocks / 2}`);
  return ((world.handled - before) / (user + system)) * 1e6;
}

export type Whereabouts = "kept in memory" | "kept on disk" | "queued";

/** Bytes of the heap for each of so many blocks; needs `--expose-gc`. */
export function bytesPerBlock(blocks: number, where: Whereabouts, collect: () => void): number {
  const capacity = where === "kept on disk" ? 1_000 : 3 * blocks + 1_000;
  const slots = where === "queued" ? blocks : 10;
  const world = new BigWorld({ workers: 10, slots, blocks, capacity, result: where === "queued" ? "left" : "kept" });
  collect();
  const before = process.memoryUsage().heapUsed;
  world.start();
  world.run();
  collect();
  const bytes = process.memoryUsage().heapUsed - before;
  if (world.scheduler.ledger.blocks !== blocks) throw new Error(`${world.scheduler.ledger.blocks} blocks of ${blocks}`);
  return bytes / blocks;
}
