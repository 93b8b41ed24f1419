/**
 * Implements what datasets need of a session with real processes: one supervisor with its workers and its store,
 * started at the first consuming call.
 */
import { randomBytes } from "node:crypto";
import { planBlock, type RecordBatch } from "../arrow/index.ts";
import type { Engine, EngineSettings, RunningJob, RunOptions } from "../dataset/index.ts";
import { OptionError, SessionClosedError } from "../errors/index.ts";
import type {
  BlockId,
  BlockMove,
  BlockRef,
  Bytes,
  InspectedRow,
  JobId,
  JobSpec,
  QuickQuestion,
  SessionMemory,
  SessionResources,
  TimedEvent,
  TrimReport,
  WorkerAnswer,
} from "../protocol/index.ts";
import { Client } from "./client.ts";
import { type JobObserver, StartingJob } from "./job.ts";
import { KeptAppetites } from "./kept-appetites.ts";
import { type MemoryPlan, memoryPlan } from "./memory-plan.ts";
import { type ResolvedOptions, resolveOptions, type SessionOptions, supervisorOptions } from "./options.ts";
import { shownJob, silent } from "./progress/index.ts";
import { statePlace } from "./state-root.ts";

/** Result of `session.rebalance()`. */
export interface Rebalanced {
  readonly blocks: number;
  readonly bytes: Bytes;
  readonly moves: readonly BlockMove[];
}

export class SessionEngine implements Engine {
  #given: SessionOptions;
  #options: ResolvedOptions;
  #client: Promise<Client> | null = null;
  /** The client, once it is connected. */
  #started: Client | null = null;
  /** Set by the first `close()`. */
  #closing: Promise<void> | null = null;
  readonly appetites = new KeptAppetites({ root: () => statePlace().root, now: () => Date.now(), notice });
  readonly #listeners = new Set<(event: TimedEvent) => void>();

  constructor(options: SessionOptions) {
    this.#given = options;
    this.#options = resolveOptions(options);
  }

  get settings(): EngineSettings {
    return this.#options;
  }

  /** Replaces the options, as long as nothing has started with the old ones. */
  configure(options: SessionOptions): void {
    if (this.#client !== null) {
      throw new OptionError(
        "configure: the default session has already started. Call configure before the first consuming call.",
      );
    }
    this.#given = options;
    this.#options = resolveOptions(options);
  }

  async memory(): Promise<SessionMemory> {
    return (await this.#running()).memory();
  }

  memoryPlan(): MemoryPlan {
    return memoryPlan(this.#options);
  }

  async report(path: string): Promise<void> {
    if (typeof path !== "string" || path === "") {
      throw new OptionError(`report: give the path of an HTML file, not ${JSON.stringify(path)}.`);
    }
    if (this.#client === null)
      throw new OptionError("report: nothing has run in this session yet. Call it after the first consuming call.");
    const client = await this.#client;
    const { session: name, logs } = await client.events();
    // Loaded only when a report is written.
    const { writeReport } = await import("../report/index.ts");
    await writeReport(logs, { name, status: this.isClosed ? "ended" : "running", now: new Date() }, path);
  }

  async setMemoryLimit(memoryLimit: NonNullable<SessionOptions["memoryLimit"]>): Promise<void> {
    this.checkOpen();
    if (memoryLimit === undefined) {
      throw new OptionError('setMemoryLimit: give a limit: "2 GiB", a share of the memory, "auto", or 0 for no limit.');
    }
    const given = { ...this.#given, memoryLimit };
    const { workerMemory, workerHeap, managedTarget, notices, ...others } = resolveOptions(given);
    this.#given = given;
    const said = new Set(this.#options.notices);
    // Block sizes depend on the heap, so they are computed again.
    const { targetMaxBlockSize, targetMinBlockSize, targetShuffleMaxBlockSize } = others;
    const sizes = { targetMaxBlockSize, targetMinBlockSize, targetShuffleMaxBlockSize };
    this.#options = { ...this.#options, workerMemory, workerHeap, managedTarget, ...sizes, notices };
    // Later workers start with the new limit, and the notices are shown then.
    if (this.#client === null) return;
    for (const text of notices) if (!said.has(text)) notice(text);
    await (await this.#client).setMemoryLimit(workerMemory, workerHeap, memoryLimit === "auto");
  }

  get dashboardUrl(): string | null {
    return this.#closing === null ? (this.#started?.dashboardUrl ?? null) : null;
  }

  get isClosed(): boolean {
    return this.#closing !== null;
  }

  checkOpen(): void {
    if (this.isClosed) throw new SessionClosedError("The session was closed. Start a new one.");
  }

  onEvent(listener: (event: TimedEvent) => void): () => void {
    if (typeof listener !== "function") {
      throw new OptionError(`onEvent: give a function that takes an event, not ${typeof listener}.`);
    }
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async inspect(sql: string, quick: QuickQuestion | null = null): Promise<readonly InspectedRow[]> {
    return (await this.#running()).inspect(sql, quick, this.settings.maxRetries);
  }

  async resources(): Promise<SessionResources> {
    return (await this.#running()).resources();
  }

  async rebalance(): Promise<Rebalanced> {
    const moves = await (await this.#running()).rebalance();
    return { blocks: moves.length, bytes: moves.reduce((sum, { bytes }) => sum + bytes, 0), moves };
  }

  async call(payload: string): Promise<readonly WorkerAnswer[]> {
    return (await this.#running()).call(payload);
  }

  async trim(): Promise<readonly TrimReport[]> {
    return (await this.#running()).trim();
  }

  async put(batch: RecordBatch): Promise<BlockRef> {
    const plan = planBlock(batch);
    return (await this.#running()).put(plan.byteLength, batch.length, (target) => plan.write(target));
  }

  async putBytes(bytes: Uint8Array): Promise<BlockRef> {
    return (await this.#running()).put(bytes.byteLength, 0, (target) => target.set(bytes));
  }

  release(blocks: readonly BlockId[]): void {
    if (this.#closing === null) this.#started?.release(blocks);
  }

  run(job: JobSpec, options: RunOptions): RunningJob {
    const shown = this.settings.progress ? shownJob() : silent;
    const observer: JobObserver = {
      progress: (stats) => {
        options.going(stats);
        shown.progress(stats);
      },
      ended: (stats) => {
        options.going(stats);
        shown.ended(stats);
      },
    };
    return new StartingJob(this.#running().then((client) => client.run(job, options, observer)));
  }

  newJobId(): JobId {
    return randomBytes(4).toString("hex") as JobId;
  }

  /** Ends every process of the session and frees its memory and files. All callers wait until that is done. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.appetites.save();
    const client = await this.#client?.catch(() => null);
    await client?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #running(): Promise<Client> {
    this.checkOpen();
    if (this.#client === null) {
      for (const text of this.#options.notices) notice(text);
      const event = (event: TimedEvent) => {
        for (const listener of this.#listeners) heard(listener, event);
      };
      const { workerData } = this.#options;
      const listener = { notice, event };
      const state = statePlace();
      if (state.notice !== null) notice(state.notice);
      this.#client = Client.start(supervisorOptions(this.#options, state.root), listener, workerData).then((client) => {
        this.#started = client;
        const { dashboardUrl } = client;
        // The link appears only on a terminal, where people read it: a log should hold no address that lets its readers
        // in. It is no progress, and appears without it, too.
        if (dashboardUrl !== null && process.stderr.isTTY) notice(`dashboard at ${dashboardUrl}`);
        return client;
      });
    }
    return this.#client;
  }
}

/** An error of a listener is thrown outside the session's own code. */
function heard(listener: (event: TimedEvent) => void, event: TimedEvent): void {
  try {
    listener(event);
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}

function notice(text: string): void {
  process.stderr.write(`spillway: ${text}\n`);
}
