/** A running job as the program sees it: a stream of blocks with credit, an end, and cancelling. */
import { type RecordBatch, readBlock, sliceBatch } from "../arrow/index.ts";
import type { FinishedJob, ReceivedBlock, RunningJob, RunOptions } from "../dataset/index.ts";
import { CancelledError, fromWire, toWire } from "../errors/index.ts";
import type { ArenaRange, BlockSlice, JobId, JobStats, ToProgram } from "../protocol/index.ts";
import type { Client } from "./client.ts";

type JobMessage = Extract<ToProgram, { job: JobId }>;

/** A received block, with its bytes if they were copied out of the store at once. */
interface Output {
  readonly slice: BlockSlice;
  readonly range: ArenaRange;
  readonly copied: Uint8Array | null;
}

/** Watches the progress of a job: the progress line. */
export interface JobObserver {
  progress(stats: JobStats): void;
  ended(stats: JobStats | null): void;
}

export class Job implements RunningJob {
  readonly finished: Promise<FinishedJob>;
  readonly #blocks: Output[] = [];
  #state: "running" | "finished" | "failed" | "cancelled" = "running";
  #error: Error | null = null;
  readonly #settle: { resolve(value: FinishedJob): void; reject(error: Error): void };
  #wake: (() => void) | null = null;
  #latest: JobStats | null = null;
  readonly #told = new Set<string>();

  constructor(
    private readonly id: JobId,
    private readonly client: Client,
    private readonly observer: JobObserver,
    private readonly options: Pick<RunOptions, "keeps" | "otherWay">,
    private readonly onEnd: () => void,
  ) {
    const { promise, resolve, reject } = deferred<FinishedJob>();
    this.finished = promise;
    this.#settle = { resolve, reject };
    // The iteration throws the same error, so `finished` need not be awaited as well.
    this.finished.catch(() => {});
  }

  receive(message: JobMessage): void {
    switch (message.type) {
      case "output":
        this.#blocks.push(this.#taken(message));
        break;
      case "otherWay":
        void this.#planOtherWay(message);
        return;
      case "progress":
        this.#latest = message.stats;
        this.observer.progress(message.stats);
        return;
      case "finished": {
        const { stats, rows, files } = message;
        this.#end("finished", stats, null);
        this.#settle.resolve({ stats, rows, files });
        break;
      }
      case "failed":
        this.#fail(fromWire(message.error), message.stats);
        break;
    }
    this.#wake?.();
  }

  async #planOtherWay({ operator, made }: Extract<JobMessage, { type: "otherWay" }>): Promise<void> {
    const answer = { type: "wayPlanned", job: this.id, operator } as const;
    try {
      const bytes = new Map(made.map((one) => [one.operator, one.bytes]));
      this.client.send({ ...answer, operators: await this.options.otherWay(operator, bytes) });
    } catch (error) {
      if (this.#state === "running") this.client.send({ ...answer, error: toWire(error) });
    }
  }

  /** Several workers may send the same notice: the user sees it once. */
  isNews(what: string): boolean {
    const news = !this.#told.has(what);
    this.#told.add(what);
    return news;
  }

  lost(error: Error): void {
    if (this.#state === "running") this.#fail(error, null);
    this.#wake?.();
  }

  async cancel(): Promise<void> {
    if (this.#state !== "running") return;
    this.client.send({ type: "cancel", job: this.id });
    const error = new CancelledError("The job was cancelled.");
    this.#end("cancelled", this.#latest === null ? null : stopped(this.#latest), error);
    this.#settle.reject(error);
    this.#dropBlocks();
    this.#wake?.();
  }

  stop(): void {
    if (this.#state === "running") this.client.send({ type: "cancel", job: this.id, tell: true });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ReceivedBlock, void, undefined> {
    try {
      for (;;) {
        const output = this.#blocks.shift();
        if (output !== undefined) {
          await this.client.growth.room();
          yield this.#received(output);
        } else if (this.#state === "running") await this.#change();
        else if (this.#error !== null) throw this.#error;
        else return;
      }
    } finally {
      await this.cancel();
      this.#dropBlocks();
    }
  }

  #taken({ slice, range, copy }: Extract<JobMessage, { type: "output" }>): Output {
    if (!copy || this.options.keeps) return { slice, range, copied: null };
    const copied = Uint8Array.from(this.client.view(range));
    this.client.release([slice.block.id]);
    return { slice, range, copied };
  }

  #received({ slice, range, copied }: Output): ReceivedBlock {
    let held = true;
    let doneReading: (() => void) | null = null;
    const { client } = this;
    const wantNext = () => {
      if (this.#state === "running") client.send({ type: "want", job: this.id, blocks: 1 });
    };
    const letGo = () => {
      held = false;
      doneReading?.();
    };
    return {
      slice,
      read(): RecordBatch {
        if (!held) throw new Error("a released block was read");
        if (copied === null) doneReading ??= client.holdArena();
        const batch = readBlock(copied ?? client.view(range));
        return slice.start === 0 && slice.end === batch.length ? batch : sliceBatch(batch, slice.start, slice.end);
      },
      room: () => client.growth.room(),
      keep(): BlockSlice {
        letGo();
        client.send({ type: "keep", blocks: [slice.block.id] });
        wantNext();
        return slice;
      },
      release: () => {
        if (!held) return;
        letGo();
        if (copied === null) client.release([slice.block.id]);
        wantNext();
      },
    };
  }

  #change(): Promise<void> {
    const over = this.client.waits();
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null;
        over();
        resolve();
      };
    });
  }

  #fail(error: Error, stats: JobStats | null): void {
    this.#end("failed", stats, error);
    this.#dropBlocks();
    this.#settle.reject(error);
  }

  #end(state: "finished" | "failed" | "cancelled", stats: JobStats | null, error: Error | null): void {
    this.#state = state;
    this.#error = error;
    this.observer.ended(stats);
    this.onEnd();
  }

  #dropBlocks(): void {
    const blocks = this.#blocks.splice(0).filter(({ copied }) => copied === null);
    this.client.release(blocks.map(({ slice }) => slice.block.id));
  }
}

/** The figures of a run that was cancelled, as it was told last: its tasks no longer run. */
function stopped(stats: JobStats): JobStats {
  return { ...stats, operators: stats.operators.map((one) => ({ ...one, tasksRunning: 0, heldBy: null })) };
}

function deferred<T>(): { promise: Promise<T>; resolve(value: T): void; reject(error: Error): void } {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((ok, no) => {
    resolve = ok;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** A job whose session is still starting. */
export class StartingJob implements RunningJob {
  readonly finished: Promise<FinishedJob>;

  constructor(private readonly job: Promise<RunningJob>) {
    this.finished = job.then((running) => running.finished);
    this.finished.catch(() => {});
  }

  /** A job that could not be started has nothing to cancel; its reader gets the error. */
  async cancel(): Promise<void> {
    const running = await this.job.catch(() => null);
    await running?.cancel();
  }

  stop(): void {
    this.job.then(
      (running) => running.stop(),
      () => {},
    );
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ReceivedBlock, void, undefined> {
    yield* await this.job;
  }
}
