/**
 * What datasets need of a session, done by real processes: one supervisor with its workers and its store, started at
 * the first consuming call.
 */
import { randomBytes } from "node:crypto";
import { planBlock } from "../arrow/index.ts";
import type { RecordBatch } from "../arrow/types.ts";
import type { Engine, EngineSettings, RunningJob, RunOptions } from "../dataset/engine.ts";
import { OptionError, SessionClosedError } from "../errors/index.ts";
import type {
  BlockId,
  BlockMove,
  BlockRef,
  Bytes,
  InspectedRow,
  JobId,
  JobSpec,
  SessionResources,
  TimedEvent,
  TrimReport,
  WorkerAnswer,
} from "../protocol/index.ts";
import { Client } from "./client.ts";
import { StartingJob } from "./job.ts";
import { type ResolvedOptions, resolveOptions, type SessionOptions, supervisorOptions } from "./options.ts";
import { progressLine, silent } from "./progress.ts";

/** What `session.rebalance()` has done. */
export interface Rebalanced {
  readonly blocks: number;
  readonly bytes: Bytes;
  readonly moves: readonly BlockMove[];
}

export class SessionEngine implements Engine {
  #options: ResolvedOptions;
  #client: Promise<Client> | null = null;
  /** The same, once it is there. */
  #started: Client | null = null;
  #closed = false;
  readonly #listeners = new Set<(event: TimedEvent) => void>();

  constructor(options: SessionOptions) {
    this.#options = resolveOptions(options);
  }

  get settings(): EngineSettings {
    return this.#options;
  }

  /** Other options, as long as nothing has been started with the old ones. */
  configure(options: SessionOptions): void {
    if (this.#client !== null) {
      throw new OptionError(
        "configure: the default session has started already; call it before the first consuming call.",
      );
    }
    this.#options = resolveOptions(options);
  }

  checkOpen(): void {
    if (this.#closed) throw new SessionClosedError("The session was closed. Start a new one.");
  }

  onEvent(listener: (event: TimedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async inspect(sql: string): Promise<readonly InspectedRow[]> {
    return (await this.#running()).inspect(sql, this.settings.maxRetries);
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
    if (!this.#closed) this.#started?.release(blocks);
  }

  run(job: JobSpec, options: RunOptions): RunningJob {
    const observer = this.settings.progress ? progressLine(process.stderr) : silent;
    return new StartingJob(this.#running().then((client) => client.run(job, options, observer)));
  }

  newJobId(): JobId {
    return randomBytes(4).toString("hex") as JobId;
  }

  /** Ends every process of the session and frees its memory and files. Waits until that is done. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const client = await this.#client?.catch(() => null);
    await client?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #running(): Promise<Client> {
    this.checkOpen();
    if (this.#client === null) {
      const notice = (text: string) => process.stderr.write(`spillway: ${text}\n`);
      for (const text of this.#options.notices) notice(text);
      const event = (event: TimedEvent) => {
        for (const listener of this.#listeners) listener(event);
      };
      const { container } = this.#options;
      const listener = { notice, event };
      this.#client = Client.start(supervisorOptions(this.#options), listener, container).then((client) => {
        this.#started = client;
        return client;
      });
    }
    return this.#client;
  }
}
