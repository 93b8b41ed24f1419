/**
 * The program's end of the socket: starts the supervisor, sends it requests, runs jobs, reads blocks from the shared
 * arena. Keeps the program alive only while a request waits for its answer; a reader that stopped reading does not.
 */
import type { Socket } from "node:net";
import { crc32 } from "node:zlib";
import { afterCollection, type RunOptions } from "../dataset/index.ts";
import { fromWire, SessionClosedError } from "../errors/index.ts";
import { connectInside } from "../files/index.ts";
import { collectGarbage } from "../memory/index.ts";
import { noticeText } from "../notices/index.ts";
import {
  type ArenaRange,
  type BlockId,
  type BlockMove,
  type BlockRef,
  type Bytes,
  type InspectedRow,
  type JobId,
  type JobSpec,
  type ProgramMessage,
  type QuickQuestion,
  type SessionMemory,
  type SessionResources,
  SOCKET,
  type TimedEvent,
  type ToProgram,
  type TrimReport,
  Wire,
  type WorkerAnswer,
} from "../protocol/index.ts";
import type { MappedArena } from "../store/index.ts";
import type { SupervisorOptions } from "../supervisor/index.ts";
import { Job, type JobObserver } from "./job.ts";
import { ProgramGrowth } from "./program-growth.ts";
import { type SupervisorProcess, startSupervisor, sweepAfterLoss } from "./start.ts";

type Welcome = Extract<ToProgram, { type: "welcome" }>;
type Asking = Extract<ProgramMessage, { request: number }>;
/** A message without its request number, which the client adds; distributed over the union. */
type Unnumbered<M> = M extends { request: number } ? Omit<M, "request"> : never;

interface Question {
  readonly resolve: (answer: ToProgram) => void;
  readonly reject: (error: Error) => void;
}

/** Receives messages that the supervisor sends unasked. */
interface ClientListener {
  notice(text: string): void;
  event(event: TimedEvent): void;
}

export class Client {
  readonly #wire: Wire<ToProgram, ProgramMessage>;
  readonly #questions = new Map<number, Question>();
  readonly #jobs = new Map<JobId, Job>();
  /** Asks for room before the program, which reads the session's output, grows. */
  readonly growth = new ProgramGrowth((bytes) => this.holds(bytes));
  #nextRequest = 1;
  #waiting = 0;
  #closed: Error | null = null;

  private constructor(
    private readonly socket: Socket,
    wire: Wire<ToProgram, ProgramMessage>,
    private readonly arena: MappedArena,
    private readonly options: SupervisorOptions,
    private readonly supervisor: SupervisorProcess,
    private readonly listener: ClientListener,
    /** The dashboard's address with its token; null when there is no dashboard. */
    readonly dashboardUrl: string | null,
  ) {
    this.#wire = wire;
    wire.onMessage((message) => this.#receive(message));
    wire.onClose((error) => this.#end(error));
    this.#hold();
  }

  static async start(
    options: SupervisorOptions,
    listener: ClientListener,
    workerData: string | null = null,
    starting: Promise<SupervisorProcess> = startSupervisor(options),
  ): Promise<Client> {
    // The C boundary is loaded while the supervisor starts, not when the package is imported.
    const loading = import("../store/mapping.ts");
    loading.catch(() => {});
    const supervisor = await starting;
    try {
      return await Client.#connect(options, supervisor, listener, workerData, (await loading).MappedArena);
    } catch (error) {
      await supervisor.end();
      throw error;
    }
  }

  static async #connect(
    options: SupervisorOptions,
    supervisor: SupervisorProcess,
    listener: ClientListener,
    workerData: string | null,
    Arena: typeof MappedArena,
  ): Promise<Client> {
    const socket = connectInside(supervisor.directory, SOCKET);
    const wire = new Wire<ToProgram, ProgramMessage>(socket);
    const early: ToProgram[] = [];
    const welcome = await new Promise<Welcome>((resolve, reject) => {
      wire.onMessage((message) => (message.type === "welcome" ? resolve(message) : early.push(message)));
      wire.onClose((error) => reject(gone(error)));
      const { token } = options;
      wire.send({ type: "hello", pid: process.pid, token, ...(workerData === null ? {} : { workerData }) });
    });
    const { dashboard } = welcome;
    const client = new Client(socket, wire, new Arena(welcome.arena), options, supervisor, listener, dashboard);
    for (const message of early) client.#receive(message);
    return client;
  }

  async inspect(sql: string, quick: QuickQuestion | null, maxRetries: number): Promise<readonly InspectedRow[]> {
    const answer = await this.#ask({ type: "inspect", sql, ...(quick === null ? {} : { quick }), maxRetries });
    return answer.type === "inspected" ? answer.rows : unexpected(answer);
  }

  async resources(): Promise<SessionResources> {
    const answer = await this.#ask({ type: "resources" });
    return answer.type === "resources" ? answer.resources : unexpected(answer);
  }

  async rebalance(): Promise<readonly BlockMove[]> {
    const answer = await this.#ask({ type: "rebalance" });
    return answer.type === "rebalanced" ? answer.moved : unexpected(answer);
  }

  async call(payload: string): Promise<readonly WorkerAnswer[]> {
    const answer = await this.#ask({ type: "call", payload });
    return answer.type === "called" ? answer.answers : unexpected(answer);
  }

  async trim(): Promise<readonly TrimReport[]> {
    const answer = await this.#ask({ type: "trim" });
    return answer.type === "trimmed" ? answer.workers : unexpected(answer);
  }

  async memory(): Promise<SessionMemory> {
    const answer = await this.#ask({ type: "memory" });
    return answer.type === "memory" ? answer.memory : unexpected(answer);
  }

  async setMemoryLimit(limit: Bytes | null, heap: Bytes | null, isAutomatic: boolean): Promise<void> {
    const answer = await this.#ask({ type: "setMemoryLimit", limit, heap, isAutomatic });
    if (answer.type !== "limitSet") unexpected(answer);
  }

  /** The program holds this much. Resolves when there is room, with how much it may hold before it asks again. */
  async holds(bytes: Bytes): Promise<Bytes> {
    const answer = await this.#ask({ type: "holds", bytes });
    return answer.type === "roomMade" ? answer.until : unexpected(answer);
  }

  /** Reserves room in the arena, lets `write` fill it, and seals it as a block that the program holds. */
  async put(bytes: Bytes, rows: number, write: (target: Uint8Array) => void): Promise<BlockRef> {
    const granted = await this.#ask({ type: "reserve", bytes });
    if (granted.type !== "reserved") return unexpected(granted);
    const target = this.arena.writable({ offset: granted.range.offset, length: bytes });
    write(target);
    const checksum = crc32(target);
    const sealed = await this.#ask({ type: "seal", range: granted.range, length: bytes, rows, checksum });
    return sealed.type === "sealed" ? sealed.block : unexpected(sealed);
  }

  view(range: ArenaRange): Uint8Array {
    return this.arena.view(range);
  }

  /** Keeps views of the arena readable until the returned function is called, also when the session ends. */
  holdArena(): () => void {
    if (this.#closed !== null) throw this.#closed;
    return this.arena.hold();
  }

  release(blocks: readonly BlockId[]): void {
    if (blocks.length > 0) this.send({ type: "release", blocks });
  }

  /** Keeps the program alive until the returned function is called, because a call waits for the supervisor. */
  waits(): () => void {
    this.#waiting++;
    this.#hold();
    return () => {
      this.#waiting--;
      this.#hold();
    };
  }

  run(spec: JobSpec, { wantBlocks, toEnd, ...options }: RunOptions, observer: JobObserver): Job {
    if (this.#closed !== null) throw this.#closed;
    const over = toEnd ? this.waits() : null;
    const job = new Job(spec.id, this, observer, options, () => {
      this.#jobs.delete(spec.id);
      over?.();
    });
    this.#jobs.set(spec.id, job);
    this.send({ type: "start", job: spec });
    if (wantBlocks > 0) this.send({ type: "want", job: spec.id, blocks: wantBlocks });
    return job;
  }

  send(message: ProgramMessage): void {
    this.#wire.send(message);
  }

  /** The session's name and log directory. Waits until the event file has everything that has happened so far. */
  async events(): Promise<{ readonly session: string; readonly logs: string }> {
    const { session, stateDirectory: logs, token } = this.options;
    // Only a report needs it.
    const { caughtUp } = await import("../events/index.ts");
    if (this.#closed === null) await caughtUp(logs, this.supervisor.directory, token);
    return { session, logs };
  }

  /** The supervisor ends everything, and answers last. */
  async close(): Promise<void> {
    if (this.#closed !== null) return sweepAfterLoss(this.options);
    const ended = new Promise<void>((resolve) => this.#wire.onClose(() => resolve()));
    try {
      await this.#ask({ type: "close" });
    } catch (error) {
      // The supervisor was killed before it answered.
      if (error !== this.#closed) throw error;
      return sweepAfterLoss(this.options);
    }
    this.socket.ref();
    this.#wire.close();
    await ended;
    // The supervisor's end of the socket keeps the file system of the local directory busy.
    await this.supervisor.exited();
  }

  #ask(question: Unnumbered<Asking>): Promise<ToProgram> {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    const request = this.#nextRequest++;
    return new Promise((resolve, reject) => {
      this.#questions.set(request, { resolve, reject });
      this.#hold();
      this.send({ ...question, request } as Asking);
    });
  }

  #receive(message: ToProgram): void {
    if ("request" in message) {
      const question = this.#questions.get(message.request);
      this.#questions.delete(message.request);
      if (message.type === "refused") question?.reject(fromWire(message.error));
      else question?.resolve(message);
      this.#hold();
    } else if (message.type === "notice") {
      const { about, notice } = message;
      const isNews = about === undefined || this.#jobs.get(about.job)?.isNews(about.what) === true;
      if (isNews) this.listener.notice(noticeText(notice));
    } else if (message.type === "collect") {
      void this.#collect();
    } else if (message.type === "event") {
      this.listener.event(message.event);
    } else if (message.type !== "welcome") {
      const job = this.#jobs.get(message.job);
      if (job !== undefined) job.receive(message);
      // A block that was on its way when its job was cancelled.
      else if (message.type === "output") this.release([message.slice.block.id]);
    }
  }

  /** Collects garbage, so that blocks without references are released. */
  async #collect(): Promise<void> {
    const start = performance.now();
    try {
      await afterCollection(collectGarbage);
    } catch (error) {
      this.listener.notice(`The program's garbage could not be collected: ${String(error)}`);
    }
    this.send({ type: "collected", took: performance.now() - start });
  }

  #end(error: Error | null): void {
    this.#closed = gone(error);
    for (const question of this.#questions.values()) question.reject(this.#closed);
    this.#questions.clear();
    for (const job of [...this.#jobs.values()]) job.lost(this.#closed);
    this.arena.close();
  }

  #hold(): void {
    // `ref` of a closed socket would wait for a connection.
    if (this.#closed !== null) return;
    if (this.#questions.size > 0 || this.#waiting > 0) this.socket.ref();
    else this.socket.unref();
  }
}

function gone(error: Error | null): SessionClosedError {
  const why =
    error === null
      ? "it was closed, or its supervisor process ended"
      : `its supervisor process ended (${error.message})`;
  return new SessionClosedError(`The session is gone: ${why}. Start a new one.`);
}

function unexpected(message: ToProgram): never {
  throw new Error(`the supervisor answered "${message.type}" to something else`);
}
