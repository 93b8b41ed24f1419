#!/usr/bin/env node
/**
 * The worker process: connects to its supervisor (or, on a cluster, to whoever started it), runs one task at a time and
 * says what came of it. Dies with its parent, whatever it is doing. argv: the session's directory, with the socket in
 * it, and the worker's id. The session's token comes on its standard input: everybody can read a command line.
 */
import { readFileSync } from "node:fs";
import { CancelledError, toWire } from "../errors/index.ts";
import { connectInside } from "../files/index.ts";
import { dieWithParent } from "../native/index.ts";
import {
  type ArenaRange,
  type KernelLease,
  type Notice,
  SOCKET,
  type TaskId,
  type TaskOrder,
  type ToWorker,
  Wire,
  type WorkerId,
  type WorkerMessage,
} from "../protocol/index.ts";
import { MappedArena } from "../store/mapping.ts";
import { Allowance } from "./allowance.ts";
import { callFunction } from "./call.ts";
import { heapUse } from "./heap-use.ts";
import { inspect } from "./inspect.ts";
import { inInspectionWords } from "./kernel-errors.ts";
import { LeasedKernel } from "./leased-kernel.ts";
import { LoadedOperator } from "./loaded-operator.ts";
import { RunningTask } from "./task.ts";
import { trim } from "./trim.ts";
import { UserContainer } from "./user-container.ts";

const STDIN = 0;

class Worker {
  readonly #wire: Wire<ToWorker, WorkerMessage>;
  readonly #operators = new Map<string, LoadedOperator>();
  readonly #allowance = new Allowance();
  #kernel: LeasedKernel | null = null;
  #arena: MappedArena | null = null;
  #capacity = 0;
  #lease: KernelLease | null = null;
  /** The user's; tasks wait until it is made. */
  #container: Promise<UserContainer> | null = null;
  #task: { readonly id: TaskId; readonly operator: LoadedOperator; readonly running: RunningTask } | null = null;
  /** A block that waits for room: the task's only wait that a cancel must end from outside. */
  #waiting: { readonly granted: (range: ArenaRange) => void; readonly cancelled: () => void } | null = null;

  constructor(
    sessionDirectory: string,
    private readonly id: WorkerId,
    token: string,
  ) {
    const socket = connectInside(sessionDirectory, SOCKET);
    this.#wire = new Wire(socket);
    this.#wire.onMessage((message) => this.#receive(message));
    // The supervisor is gone: nothing that this process holds matters to anyone.
    this.#wire.onClose((error) => {
      if (error !== null) process.stderr.write(`${error.message}\n`);
      process.exit(0);
    });
    socket.once("connect", () => this.#wire.send({ type: "ready", worker: id, pid: process.pid, token }));
  }

  #receive(message: ToWorker): void {
    switch (message.type) {
      case "welcome":
        this.#arena = new MappedArena(message.arena);
        this.#capacity = message.arena.capacity;
        this.#kernelOf().spillBelow(message.directory, message.worker);
        void this.#takeLease(message.lease);
        this.#allowance.set(message.allowance);
        if (message.container !== null) this.#openContainer(message.container, message.directory);
        return;
      case "allowance":
        this.#allowance.set(message.bytes);
        return;
      case "lease":
        void this.#takeLease(message.lease);
        return;
      case "operator":
        this.#operators.set(key(message.order), new LoadedOperator(message.order, this.#arenaOf()));
        return;
      case "run":
        void this.#run(message.task);
        return;
      case "cancel":
        if (this.#task?.id !== message.task) return;
        this.#task.running.cancel();
        this.#waiting?.cancelled();
        return;
      case "reserved":
        this.#waiting?.granted(message.range);
        return;
      case "feed":
        if (this.#task?.id === message.task) this.#task.running.feed(message);
        return;
      case "feedEnd":
        if (this.#task?.id === message.task) this.#task.running.feedEnd();
        return;
      case "retire":
        void this.#retire(message);
        return;
      case "inspect":
        void this.#inspect(message);
        return;
      case "call":
        void this.#call(message);
        return;
      case "trim":
        void this.#trim(message.request);
        return;
      case "evict":
        void this.#container?.then(
          (container) => container.evict(message.bytes),
          () => {},
        );
        return;
      case "exit":
        process.exit(0);
    }
  }

  #openContainer(payload: string, directory: string): void {
    this.#container = UserContainer.open(payload, this.id, directory, {
      holds: (bytes, evicts) => this.#wire.send({ type: "container", bytes, evicts }),
      // Otherwise the next reading would find it as large as before, and it would have to let go of as much again.
      evicted: () => trim(this.id, this.#kernelOf()),
      spent: () => this.#wire.send({ type: "spent" }),
      failed: (problem) =>
        this.#wire.send({ type: "notice", notice: { kind: "workerData", worker: this.id, problem } }),
    });
    // Whoever needs it is told why there is none.
    this.#container.catch(() => {});
  }

  async #call({ request, payload }: Extract<ToWorker, { type: "call" }>): Promise<void> {
    try {
      const container = await this.#container;
      const answer = await callFunction(this.id, payload);
      container?.look();
      this.#wire.send({ type: "called", request, answer });
    } catch (error) {
      this.#wire.send({ type: "called", request, answer: { worker: this.id, value: null, error: toWire(error) } });
    }
  }

  async #trim(request: number | null): Promise<void> {
    // What they put rows together in: only a task that runs needs it.
    if (this.#task === null) for (const { scratch } of this.#operators.values()) scratch.release();
    const report = await trim(this.id, this.#kernelOf());
    // What is in it is no leak, for which the worker would be replaced.
    const container = await this.#container?.catch(() => null);
    container?.lookNow();
    this.#wire.send({ type: "trimmed", request, report, heap: heapUse() });
  }

  async #run(task: TaskOrder): Promise<void> {
    try {
      const operator = this.#operators.get(key(task));
      if (operator === undefined) throw new Error(`a task of the unknown operator ${key(task)} came`);
      // Before the function is loaded: CUDA looks at it once, when it is first used.
      if (task.devices !== null) process.env.CUDA_VISIBLE_DEVICES = task.devices.join(",");
      const running = new RunningTask(task, operator, this.#kernelOf(), {
        arena: this.#arenaOf(),
        capacity: this.#capacity,
        notice: (what, notice) => this.#notice(operator, what, notice),
        reserve: (bytes) => this.#reserve(task.id, bytes),
        output: (block) => this.#wire.send({ type: "output", task: task.id, ...block }),
        fed: () => this.#wire.send({ type: "fed", task: task.id }),
        kernelUsage: (usage) => this.#wire.send({ type: "kernel", ...usage }),
        isMostlyFree: () => this.#allowance.isMostlyFree(),
      });
      this.#task = { id: task.id, operator, running };
      // Only here: what comes for the task meanwhile must find it.
      const container = await this.#container;
      await this.#leaseFor(task);
      container?.taskStarts();
      if (operator.hasFunctions) this.#allowance.impose();
      else this.#allowance.lift();
      const report = await running.run().finally(() => {
        this.#allowance.impose();
        container?.taskEnds();
      });
      this.#task = null;
      this.#wire.send({ type: "done", task: task.id, report, heap: heapUse() });
    } catch (error) {
      if (!(error instanceof CancelledError)) await this.#renewKernel();
      this.#task = null;
      if (error instanceof CancelledError) this.#wire.send({ type: "cancelled", task: task.id });
      else this.#wire.send({ type: "failed", task: task.id, error: toWire(error) });
    }
  }

  /** Before whatever comes next: a kernel that broke would fail that, too. */
  async #renewKernel(): Promise<void> {
    if (!(await this.#kernelOf().renewIfBroken())) return;
    for (const operator of this.#operators.values()) operator.kernelRenewed();
  }

  #takeLease(lease: KernelLease): Promise<void> {
    this.#lease = lease;
    return this.#kernelOf().take(lease);
  }

  /** A task that ran out of memory may be given more for its kernel than others. */
  async #leaseFor({ lease }: Pick<TaskOrder, "lease">): Promise<void> {
    const own = this.#lease;
    const isMore = lease?.memory != null && own?.memory != null && lease.memory > own.memory;
    const wanted = isMore ? lease : own;
    if (wanted !== null && wanted !== this.#kernelOf().lease) await this.#kernelOf().take(wanted);
  }

  #reserve(task: TaskId, bytes: number): Promise<ArenaRange> {
    this.#wire.send({ type: "reserve", task, bytes });
    return new Promise((resolve, reject) => {
      this.#waiting = {
        granted: (range) => {
          this.#waiting = null;
          resolve(range);
        },
        cancelled: () => {
          this.#waiting = null;
          reject(new CancelledError("The task was cancelled while it waited for room."));
        },
      };
    });
  }

  #notice({ order, said }: LoadedOperator, what: string, notice: Notice): void {
    if (said.has(what)) return;
    said.add(what);
    this.#wire.send({ type: "notice", notice, about: { job: order.job, what: `${order.operator}/${what}` } });
  }

  async #retire({ job, operator }: Extract<ToWorker, { type: "retire" }>): Promise<void> {
    const loaded = this.#operators.get(key({ job, operator }));
    this.#operators.delete(key({ job, operator }));
    try {
      await loaded?.dispose((what, notice) => this.#notice(loaded, what, notice));
      this.#wire.send({ type: "retired", job, operator, error: null });
    } catch (error) {
      this.#wire.send({ type: "retired", job, operator, error: toWire(error) });
    }
  }

  async #inspect(question: Extract<ToWorker, { type: "inspect" }>): Promise<void> {
    const { request, sql } = question;
    try {
      await this.#leaseFor(question);
      this.#allowance.lift();
      const rows = inspect(this.#kernelOf().connection, sql);
      this.#wire.send({ type: "inspected", request, rows });
    } catch (error) {
      await this.#renewKernel();
      this.#wire.send({ type: "refused", request, error: toWire(inInspectionWords(error, this.#kernelOf())) });
    } finally {
      this.#allowance.impose();
    }
  }

  /** Opened at the first need, or right after the start while nothing is asked of this worker yet. */
  #kernelOf(): LeasedKernel {
    if (this.#kernel === null) {
      const kernel = new LeasedKernel();
      this.#kernel = kernel;
      process.once("exit", () => kernel.removeFiles());
    }
    return this.#kernel;
  }

  /** An error that no call of a function can be asked about: a timer's, a promise's that nobody awaits. */
  uncaught(error: unknown): void {
    if (this.#task === null) throw error;
    const { id, operator } = this.#task;
    void operator.uncaught(error).then((failure) => {
      this.#wire.send({ type: "failed", task: id, error: toWire(failure) });
      // What else it left undone is unknown: this process ends, another takes its place.
      this.#wire.close();
    });
  }

  warmUp(): void {
    this.#kernelOf();
  }

  #arenaOf(): MappedArena {
    if (this.#arena === null) throw new Error("no arena: the supervisor has not said welcome yet");
    return this.#arena;
  }
}

function key(of: { readonly job: string; readonly operator: number }): string {
  return `${of.job}/${of.operator}`;
}

dieWithParent();
const [directory, id] = process.argv.slice(2);
if (directory === undefined || id === undefined) {
  process.stderr.write("A worker is started by a supervisor, not by hand.\n");
  process.exit(2);
}
const worker = new Worker(directory, Number(id) as WorkerId, readFileSync(STDIN, "utf8"));
process.on("uncaughtException", (error) => worker.uncaught(error));
worker.warmUp();
