#!/usr/bin/env node
/**
 * The worker process: connects to its supervisor (on a cluster, to the process that started it), runs one task at a
 * time and reports the result. Dies with its parent, whatever it is doing. argv: the session's directory, with the
 * socket in it, and the worker's id. The session's token comes on stdin, because everybody can read a command line.
 */
import { readFileSync } from "node:fs";
import { CancelledError, toWire } from "../errors/index.ts";
import { connectInside } from "../files/index.ts";
import { OwnPeak } from "../memory/index.ts";
import { dieWithParent } from "../native/index.ts";
import {
  type ArenaRange,
  type JobId,
  type KernelLease,
  type Notice,
  type OperatorId,
  SOCKET,
  type TaskId,
  type TaskOrder,
  type ToWorker,
  Wire,
  type WorkerId,
  type WorkerMessage,
  type WorkerOperator,
} from "../protocol/index.ts";
import { messageOf } from "../realm/index.ts";
import { MappedArena } from "../store/mapping.ts";
import { Allowance } from "./allowance.ts";
import { callFunction } from "./call.ts";
import { heapUse } from "./heap-use.ts";
import { inspect } from "./inspect.ts";
import { inInspectionWords } from "./kernel-errors.ts";
import { LeasedKernel } from "./leased-kernel.ts";
import { LoadedOperator } from "./loaded-operator.ts";
import { Profiling } from "./profiling.ts";
import { RunningTask, type TaskOutlet } from "./task.ts";
import { trim } from "./trim.ts";
import { OwnWorkerData } from "./worker-data.ts";

const STDIN = 0;
/** How often a running task reports its progress. Shorter tasks never report. */
const PROGRESS_MS = 250;

class Worker {
  readonly #wire: Wire<ToWorker, WorkerMessage>;
  readonly #operators = new Map<string, LoadedOperator>();
  readonly #allowance = new Allowance();
  readonly #peak = new OwnPeak();
  #kernel: LeasedKernel | null = null;
  #arena: MappedArena | null = null;
  #capacity = 0;
  /** Runs while tasks run. */
  #watch: NodeJS.Timeout | null = null;
  /** The task at the last check, and what was reported about it. */
  #looked: { readonly running: RunningTask; told: string } | null = null;
  #profiling: Profiling | null = null;
  #lease: KernelLease | null = null;
  /** The user's worker data. Tasks wait until it is made. */
  #workerData: Promise<OwnWorkerData> | null = null;
  #task: { readonly id: TaskId; readonly operator: LoadedOperator; readonly running: RunningTask } | null = null;
  /** A block that waits for room. It is the task's only wait that a cancel must end from outside. */
  #waiting: { readonly granted: (range: ArenaRange) => void; readonly cancelled: () => void } | null = null;

  constructor(
    sessionDirectory: string,
    private readonly id: WorkerId,
    private readonly token: string,
  ) {
    const socket = connectInside(sessionDirectory, SOCKET);
    this.#wire = new Wire(socket);
    this.#wire.onMessage((message) => this.#receive(message));
    // The supervisor is gone, so nothing in this process is needed any more.
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
        this.#profiling = this.#profilingTo(message.directory, message.profiles);
        this.#kernelOf().spillBelow(message.directory, message.worker);
        void this.#takeLease(message.lease);
        this.#allowance.set(message.allowance);
        if (message.workerData !== null) this.#openWorkerData(message.workerData, message.directory);
        return;
      case "allowance":
        this.#allowance.set(message.bytes);
        return;
      case "lease":
        void this.#takeLease(message.lease);
        return;
      case "operator":
        this.#load(message.job, message.operator);
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
        void this.#workerData?.then(
          (workerData) => workerData.evict(message.bytes),
          () => {},
        );
        return;
      case "profile":
        this.#profile(message);
        return;
      case "exit":
        if (this.#profiling?.isRunning !== true) process.exit(0);
        void this.#profiling.end().finally(() => process.exit(0));
    }
  }

  #profilingTo(sessionDirectory: string, directory: string): Profiling {
    const { id: worker, token } = this;
    return new Profiling({ sessionDirectory, directory, worker, token }, () => this.#kernelOf());
  }

  #profile({ request, seconds }: Extract<ToWorker, { type: "profile" }>): void {
    try {
      const problem = this.#profiling?.demand(request, seconds, false) ?? null;
      if (problem !== null) this.#wire.send({ type: "notProfiled", request, problem });
    } catch (error) {
      this.#wire.send({ type: "notProfiled", request, problem: messageOf(error) });
    }
  }

  #openWorkerData(payload: string, directory: string): void {
    this.#workerData = OwnWorkerData.open(payload, this.id, directory, {
      holds: (bytes, evicts) => this.#wire.send({ type: "workerData", bytes, evicts }),
      // Without the trim, the next reading would show the same size as before, and the worker data would have to free
      // the same amount again.
      evicted: () => trim(this.id, this.#kernelOf()),
      nothingToEvict: () => this.#wire.send({ type: "nothingToEvict" }),
      failed: (problem) =>
        this.#wire.send({ type: "notice", notice: { kind: "workerData", worker: this.id, problem } }),
    });
    // A task that needs the worker data gets the error.
    this.#workerData.catch(() => {});
  }

  async #call({ request, payload }: Extract<ToWorker, { type: "call" }>): Promise<void> {
    try {
      const workerData = await this.#workerData;
      const answer = await callFunction(this.id, payload);
      workerData?.look();
      this.#wire.send({ type: "called", request, answer });
    } catch (error) {
      this.#wire.send({ type: "called", request, answer: { worker: this.id, value: null, error: toWire(error) } });
    }
  }

  async #trim(request: number | null): Promise<void> {
    // Memory for assembling rows is only needed while a task runs.
    if (this.#task === null) for (const { scratch } of this.#operators.values()) scratch.release();
    const report = await trim(this.id, this.#kernelOf());
    // The size of the worker data is reported, so that it does not count as a leak, for which the worker would be
    // replaced.
    const workerData = await this.#workerData?.catch(() => null);
    workerData?.lookNow();
    this.#wire.send({ type: "trimmed", request, report, heap: heapUse() });
  }

  #load(job: JobId, spec: WorkerOperator): void {
    this.#operators.set(key(job, spec.id), new LoadedOperator(job, spec, this.#arenaOf()));
  }

  async #run(task: TaskOrder): Promise<void> {
    try {
      const name = key(task.job, task.operator);
      const operator = this.#operators.get(name);
      if (operator === undefined) throw new Error(`a task of the unknown operator ${name} came`);
      // Before the function is loaded: CUDA looks at it once, when it is first used.
      if (task.devices !== null) process.env.CUDA_VISIBLE_DEVICES = task.devices.join(",");
      const outlet: TaskOutlet = {
        arena: this.#arenaOf(),
        capacity: this.#capacity,
        notice: (what, notice) => this.#notice(operator, what, notice),
        reserve: (bytes) => this.#reserve(task.id, bytes),
        output: (block) => this.#wire.send({ type: "output", task: task.id, ...block }),
        fed: () => this.#wire.send({ type: "fed", task: task.id }),
        firstBatch: (peakMemory, addedMemory) =>
          this.#wire.send({ type: "firstBatch", task: task.id, peakMemory, addedMemory }),
        kernelUsage: (usage) => this.#wire.send({ type: "kernel", ...usage }),
        isMostlyFree: () => this.#allowance.isMostlyFree(),
      };
      const running = new RunningTask(task, operator, this.#kernelOf(), outlet, this.#peak);
      this.#task = { id: task.id, operator, running };
      // Set only now: messages for the task must find it from here on.
      const workerData = await this.#workerData;
      await this.#leaseFor(task);
      workerData?.taskStarts();
      if (operator.hasFunctions) this.#allowance.impose(task.mostMemory);
      else this.#allowance.lift();
      this.#watch ??= setInterval(() => this.#tellProgress(), PROGRESS_MS);
      this.#profiling?.taskStarts(name, operator.spec);
      const report = await running.run().finally(() => {
        this.#allowance.restore();
        workerData?.taskEnds();
      });
      await this.#profiling?.written();
      this.#task = null;
      this.#wire.send({ type: "done", task: task.id, report, heap: heapUse(), left: running.left });
    } catch (error) {
      if (!(error instanceof CancelledError)) await this.#renewKernel();
      this.#task = null;
      if (error instanceof CancelledError) this.#wire.send({ type: "cancelled", task: task.id });
      else this.#wire.send({ type: "failed", task: task.id, error: toWire(error) });
    }
  }

  /**
   * One timer serves all tasks, because a timer for each tiny task would cost more than its message. So the first check
   * of a task reports nothing. The timer also works while a function never waits: the event loop has its turn between
   * two calls.
   */
  #tellProgress(): void {
    if (this.#task === null) {
      if (this.#watch !== null) clearInterval(this.#watch);
      this.#watch = null;
      this.#looked = null;
      return;
    }
    const { id: task, running } = this.#task;
    if (this.#looked?.running !== running) {
      this.#looked = { running, told: "" };
      return;
    }
    const { progress } = running;
    const told = JSON.stringify(progress);
    if (told === this.#looked.told) return;
    this.#looked.told = told;
    this.#wire.send({ type: "progress", task, ...progress });
  }

  /** Called before the next work: a broken kernel would fail that, too. */
  async #renewKernel(): Promise<void> {
    if (!(await this.#kernelOf().renewIfBroken())) return;
    for (const operator of this.#operators.values()) operator.kernelRenewed();
  }

  #takeLease(lease: KernelLease): Promise<void> {
    this.#lease = lease;
    return this.#kernelOf().take(lease);
  }

  /** A task that ran out of memory may get a larger lease for its kernel. */
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

  #notice({ job, spec, said }: LoadedOperator, what: string, notice: Notice): void {
    if (said.has(what)) return;
    said.add(what);
    this.#wire.send({ type: "notice", notice, about: { job, what: `${spec.id}/${what}` } });
  }

  async #retire({ job, operator }: Extract<ToWorker, { type: "retire" }>): Promise<void> {
    const loaded = this.#operators.get(key(job, operator));
    this.#operators.delete(key(job, operator));
    try {
      await loaded?.dispose((what, notice) => this.#notice(loaded, what, notice));
      await this.#profiling?.operatorEnds(key(job, operator));
      this.#wire.send({ type: "retired", job, operator, error: null });
    } catch (error) {
      this.#wire.send({ type: "retired", job, operator, error: toWire(error) });
    }
  }

  async #inspect(question: Extract<ToWorker, { type: "inspect" }>): Promise<void> {
    const { request, sql, quick = null } = question;
    try {
      await this.#leaseFor(question);
      this.#allowance.lift();
      const rows = await inspect(this.#kernelOf().connection, sql, quick);
      this.#wire.send({ type: "inspected", request, rows });
    } catch (error) {
      await this.#renewKernel();
      this.#wire.send({ type: "refused", request, error: toWire(inInspectionWords(error, this.#kernelOf())) });
    } finally {
      this.#allowance.restore();
    }
  }

  /** Opened when first needed, or right after the start while the worker has no work yet. */
  #kernelOf(): LeasedKernel {
    if (this.#kernel === null) {
      const kernel = new LeasedKernel();
      this.#kernel = kernel;
      process.once("exit", () => kernel.removeFiles());
    }
    return this.#kernel;
  }

  /** An exception outside of every call of a function: from a timer, or from a promise that is not awaited. */
  uncaught(error: unknown): void {
    if (this.#task === null) throw error;
    const { id, operator } = this.#task;
    void operator.uncaught(error).then((failure) => {
      this.#wire.send({ type: "failed", task: id, error: toWire(failure) });
      // What else the exception interrupted is unknown. So this process ends, and another one replaces it.
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

function key(job: JobId, operator: OperatorId): string {
  return `${job}/${operator}`;
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
