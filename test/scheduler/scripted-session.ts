/** A scheduler whose workers do exactly what the test says. */
import { apply, emptyState, withStats } from "../../src/events/index.ts";
import { noticeText } from "../../src/notices/index.ts";
import type {
  BlockId,
  BlockSlice,
  Bytes,
  HeapUse,
  JobSpec,
  ProcessMemory,
  RecordedEvent,
  SessionEvent,
  TaskInput,
  TaskOperator,
  ToProgram,
  WorkerId,
} from "../../src/protocol/index.ts";
import {
  type Command,
  type Event,
  type JobMessage,
  Scheduler,
  type SchedulerOptions,
  type TaskMessage,
  type WorkerEnd,
} from "../../src/scheduler/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { splitOf } from "../simulate/plans.ts";
import { ended } from "../support/ends.ts";
import { taskReport } from "../support/figures.ts";
import { schedulerOptions } from "../support/resolved.ts";

export const MIB = 2 ** 20;

export class ScriptedSession {
  readonly scheduler: Scheduler;
  readonly commands: Command[] = [];
  now = 0;
  /** What the events come to. */
  readonly state = emptyState();
  /** All events so far. */
  readonly stream: RecordedEvent[] = [];
  /** The program refers to all that it keeps, and says so when it is asked to collect its garbage. */
  hasNoGarbage = true;
  #written = 0;
  #read = 0;

  constructor(workers: number, pages: number, more: Partial<SchedulerOptions> = {}) {
    this.scheduler = new Scheduler(schedulerOptions({ capacity: pages * PAGE, workers, ...more }));
    for (let worker = 1; worker <= workers; worker++) this.up(worker);
  }

  up(worker: number, more: { readonly memory?: number; readonly isWide?: boolean } = {}): void {
    this.tell({ type: "workerStarting", worker: worker as WorkerId, ...more });
    this.tell({ type: "workerReady", worker: worker as WorkerId, pid: 1000 + worker });
  }

  tell(event: Event): void {
    const commands = this.scheduler.handle(event, this.now);
    for (const recorded of this.scheduler.takeEvents()) {
      apply(this.state, recorded);
      this.stream.push(recorded);
    }
    this.commands.push(...commands.map((command) => this.#asSent(command)));
    const faults = this.scheduler.faults();
    if (faults.length > 0) throw new Error(`after ${event.type}: ${faults.join("; ")}`);
    const isAsked = commands.some((one) => one.type === "toProgram" && one.message.type === "collect");
    if (isAsked && this.hasNoGarbage) this.program({ type: "collected", took: 1 });
    for (const one of commands) {
      // The readings are what the test has told before.
      if (one.type === "measure") this.tell({ type: "measured", request: one.request });
    }
  }

  /** What the program gets is complete, as the supervisor makes it. */
  #asSent(command: Command): Command {
    if (command.type !== "jobNews") return command;
    return { type: "toProgram", message: withStats(this.state, command.news, command.at) };
  }

  program(message: JobMessage): void {
    this.tell({ type: "fromProgram", message });
  }

  says(worker: number, message: TaskMessage): void {
    this.tell({ type: "fromWorker", worker: worker as WorkerId, message });
  }

  /** A block of the program's; the first one is the payload of every function. */
  put(pages = 1): BlockId {
    this.program({ type: "reserve", request: 1, bytes: pages * PAGE });
    const range = this.wasTold("reserved").at(-1)?.range;
    if (range === undefined) throw new Error("no room was given");
    this.program({ type: "seal", request: 2, range, length: pages * PAGE, rows: 1, checksum: 0 });
    const block = this.wasTold("sealed").at(-1)?.block;
    if (block === undefined) throw new Error("not sealed");
    return block.id;
  }

  /** The same, where something has to leave first. */
  putAfterSpilling(pages: number): BlockId {
    const before = this.wasTold("reserved").length;
    this.program({ type: "reserve", request: 1, bytes: pages * PAGE });
    this.diskWrites();
    const range = this.wasTold("reserved")[before]?.range;
    if (range === undefined) throw new Error("no room was made");
    this.program({ type: "seal", request: 2, range, length: pages * PAGE, rows: 1, checksum: 0 });
    const block = this.wasTold("sealed").at(-1)?.block;
    if (block === undefined) throw new Error("not sealed");
    return block.id;
  }

  /** Blocks that were ordered to be written, in order. */
  get spilled(): BlockId[] {
    return this.#spills().flatMap(({ blocks }) => blocks.map(({ id }) => id));
  }

  #spills() {
    return this.commands.flatMap((one) => (one.type === "spill" ? [one] : []));
  }

  /** The disk does what it was last ordered to. */
  diskWrites(): void {
    for (const { blocks } of this.#spills().slice(this.#written)) {
      this.#written += 1;
      const places = blocks.map(({ id, range }, offset) => {
        const place = { file: this.#written, offset, stored: range.length, codec: "none" } as const;
        return { id, place };
      });
      this.tell({ type: "spilled", blocks: places });
    }
  }

  diskRefuses(message: string): void {
    for (const { blocks } of this.#spills().slice(this.#written)) {
      this.#written += 1;
      const error = { name: "SpillError", message, stack: null, fields: {} };
      this.tell({ type: "notSpilled", blocks: blocks.map(({ id }) => id), error });
    }
  }

  diskReads(): void {
    for (const command of this.commands.slice(this.#read)) {
      if (command.type === "restore") this.tell({ type: "restored", block: command.block.id });
    }
    this.#read = this.commands.length;
  }

  start(spec: JobSpec, want = 0): void {
    this.program({ type: "start", job: spec });
    if (want > 0) this.program({ type: "want", job: spec.id, blocks: want });
  }

  /** The worker's task asks for a block; true where it gets it. */
  asks(worker: number, pages = 1): boolean {
    const { id } = this.taskOf(worker);
    const before = this.grantsTo(worker);
    this.says(worker, { type: "reserve", task: id, bytes: pages * PAGE });
    return this.grantsTo(worker) > before;
  }

  grantsTo(worker: number): number {
    return this.toWorker(worker).filter(({ type }) => type === "reserved").length;
  }

  handsOver(worker: number, rows = 1, pages = 1): void {
    const message = this.toWorker(worker).findLast((one) => one.type === "reserved");
    if (message?.type !== "reserved") throw new Error("no room was given");
    const { task, range } = message;
    this.says(worker, { type: "output", task, range, length: pages * PAGE, rows, checksum: rows });
  }

  done(worker: number, rowsOut = 0, heap: HeapUse = { used: 0, limit: MIB }): void {
    const { id } = this.taskOf(worker);
    this.says(worker, { type: "done", task: id, report: taskReport({ rowsOut }), heap, left: 0 });
  }

  /** Private memory of workers, by their number. */
  reads(workers: Readonly<Record<number, number>>): void {
    const readings = Object.entries(workers).map(([worker, bytes]) => ({
      worker: Number(worker) as WorkerId,
      ...processWith(bytes),
    }));
    const [supervisor, program] = [processWith(0), processWith(0)];
    this.tell({ type: "memory", workers: readings, supervisor, program, used: null });
  }

  get events(): SessionEvent[] {
    return this.commands.flatMap((one) => (one.type === "event" ? [one.event] : []));
  }

  dies(worker: number, end: Partial<WorkerEnd> = { tail: "last words" }): void {
    this.tell({ type: "workerGone", worker: worker as WorkerId, end: ended(end) });
  }

  /** Workers are seen to have so much private memory, in MiB: the first one's first. */
  seen(...mebibytes: number[]): void {
    const workers = mebibytes.map((private_, i) => ({
      worker: (i + 1) as WorkerId,
      private: private_ * MIB,
      shared: 0,
      children: 0,
    }));
    const nobody = { private: 0, shared: 0, children: 0 };
    this.tell({ type: "memory", workers, supervisor: nobody, program: nobody, used: null });
  }

  /** The node is seen to use so much of 1000 MiB. */
  nodeUses(mebibytes: number, more: Bytes = 0): void {
    this.tell({ type: "nodeMemory", used: mebibytes * MIB + more, total: 1000 * MIB });
  }

  /** Events of this kind, in order. */
  happened<T extends SessionEvent["type"]>(type: T): Extract<SessionEvent, { type: T }>[] {
    return this.commands.flatMap((one) =>
      one.type === "event" && one.event.type === type ? [one.event as Extract<SessionEvent, { type: T }>] : [],
    );
  }

  taskOf(worker: number) {
    const message = this.toWorker(worker).findLast((one) => one.type === "run");
    if (message?.type !== "run") throw new Error(`worker ${worker} has no task`);
    return message.task;
  }

  tasksOf(worker: number): string[] {
    return this.toWorker(worker).flatMap((message) => (message.type === "run" ? [message.task.id] : []));
  }

  toWorker(worker: number) {
    return this.commands.flatMap((one) => (one.type === "toWorker" && one.worker === worker ? [one.message] : []));
  }

  wasTold<T extends ToProgram["type"]>(type: T): Extract<ToProgram, { type: T }>[] {
    return this.commands.flatMap((one) =>
      one.type === "toProgram" && one.message.type === type ? [one.message as Extract<ToProgram, { type: T }>] : [],
    );
  }

  /** Texts of the notices that the program was told. */
  notices(): string[] {
    return this.wasTold("notice").map(({ notice }) => noticeText(notice));
  }

  ordered(type: Command["type"]): number {
    return this.commands.filter((one) => one.type === type).length;
  }
}

function processWith(bytes: number): ProcessMemory {
  return { private: bytes, shared: 0, children: 0 };
}

export function splits(count: number): TaskOperator["input"] {
  return { kind: "splits", splits: Array.from({ length: count }, (_, i) => splitOf([i])) };
}

export const rowsOf = (input: TaskInput): number[] =>
  input.kind === "blocks" ? input.slices.map(({ start, end }) => end - start) : [];

export const sliceOf = (id: BlockId, pages: number): BlockSlice => ({
  block: { id, length: pages * PAGE, rows: 1 },
  start: 0,
  end: 1,
});

export const from = (...operators: number[]): TaskOperator["input"] => ({ kind: "operators", operators });

export const blocksOf = (pages: number) => ({ kind: "blocks", targetBytes: pages * PAGE, minBytes: false }) as const;
