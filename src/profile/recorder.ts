/**
 * The profiler of a worker. All recordings share one sampler and one thread, which watches the worker's memory and
 * writes the files. This module is loaded for the first profile. Between recordings the stand-ins are removed, and the
 * thread soon ends.
 */
import { close as closeInspector } from "node:inspector";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { ownFolder } from "../place/index.ts";
import { fileName } from "./files.ts";
import type { ProfileKind } from "./format.ts";
import type { ScriptFacts } from "./positions.ts";
import { Sampler } from "./sampler.ts";
import { type Demand, type FromThread, PROFILER, type Recorded, type ThreadPlace, type ToThread } from "./snapshot.ts";

export interface RecorderPlace extends ThreadPlace {
  /** Directory of the profiles. */
  readonly directory: string;
  /** Bytes that the kernel is known to hold. */
  kernel(): number;
  /** How positions in a script translate to the user's own source. */
  script(url: string): ScriptFacts;
}

/** Members of an object that the inspector finds by a global symbol, whatever the main thread is doing. */
interface Reachable {
  readonly counted: object | null;
  take(entries: never): void;
  grown(): void;
  closeDemand(id: number): boolean;
  script(url: string): string;
}

/** A running recording. */
export interface Recording {
  /** Resolves once the file is written. */
  close(): Promise<void>;
}

const THREAD_IDLE = 5_000;
/**
 * Most of the time that may go into snapshots. A function that is called again and again is profiled only now and then,
 * to keep within this share.
 */
const SHARE = 0.1;
/** Milliseconds of snapshots that are always allowed: the thread takes a while to start. */
const FREE = 100;

const IDLE: Recording = { close: () => Promise.resolve() };

class Recorder {
  #sampler: Sampler | null = null;
  #thread: Worker | null = null;
  #lastId = 0;
  /** Milliseconds spent on snapshots since sampling began. */
  #looked = 0;
  #samplingSince = 0;
  /** Open recordings by file name. Overlapping runs of one name share a recording. */
  readonly #open = new Map<string, { readonly id: number; count: number }>();
  readonly #written = new Map<number, () => void>();
  /** For each name, the time that starts and ends of recordings took, and since when it counts. */
  readonly #spent = new Map<string, { readonly since: number; took: number }>();
  #demand: { readonly id: number; readonly woken: boolean } | null = null;
  #idle: NodeJS.Timeout | null = null;

  constructor(private readonly place: RecorderPlace) {
    Reflect.set(globalThis, Symbol.for(PROFILER), this.#reachable());
  }

  /** Stays after the last recording, because the thread still asks for scripts while it writes files. */
  #reachable(): Reachable {
    const sampler = () => this.#sampler;
    return {
      get counted() {
        return sampler()?.counted ?? null;
      },
      take: (entries) => this.#sampler?.take(entries),
      grown: () => this.#look(),
      closeDemand: (id) => this.#closeDemand(id),
      script: (url) => JSON.stringify(this.place.script(url)),
    };
  }

  /** Runs of one name that overlap are one recording. */
  open(kind: ProfileKind, label: string): Recording {
    const name = fileName(kind, label, this.place.worker);
    const known = this.#open.get(name);
    if (known === undefined && this.#hasSpentMuch(name)) return IDLE;
    if (known === undefined) {
      this.#open.set(name, { id: this.#timed(name, () => this.#start(kind, label, null)), count: 1 });
    } else known.count += 1;
    let isClosed = false;
    return {
      close: async () => {
        const running = this.#open.get(name);
        if (isClosed || running === undefined) return;
        isClosed = true;
        running.count -= 1;
        if (running.count > 0) return;
        this.#open.delete(name);
        await this.#timed(name, () => this.#end(running.id));
      },
    };
  }

  /** Returns null, or why the profile cannot begin. The thread ends the profile and answers the supervisor. */
  demand(demand: Demand): string | null {
    if (this.#demand !== null) return "it is being profiled already";
    this.#demand = { id: this.#start("demand", `${demand.request}`, demand), woken: demand.woken };
    return null;
  }

  #start(kind: ProfileKind, label: string, demand: Demand | null): number {
    this.#lastId += 1;
    const { worker, directory } = this.place;
    const recorded: Recorded = {
      file: join(directory, fileName(kind, label, worker)),
      kind,
      title: kind === "demand" ? `worker ${worker}` : label,
      worker,
    };
    const isFirst = this.#sampler === null;
    const sampler = this.#sampler ?? this.#startSampling();
    this.#sampler = sampler;
    this.#thread ??= this.#startThread();
    const snapshot = isFirst ? sampler.beginning() : sampler.snapshot();
    this.#send({ type: "open", id: this.#lastId, recorded, snapshot, demand });
    return this.#lastId;
  }

  #end(id: number): Promise<void> {
    const sampler = this.#sampler;
    if (sampler === null) return Promise.resolve();
    this.#send({ type: "close", id, end: sampler.snapshot() });
    if (this.#open.size === 0 && this.#demand === null) this.#stopSampling(sampler);
    return new Promise((resolve) => this.#written.set(id, resolve));
  }

  #hasSpentMuch(name: string): boolean {
    const spent = this.#spent.get(name);
    return spent !== undefined && spent.took > (performance.now() - spent.since) * SHARE;
  }

  #timed<Result>(name: string, work: () => Result): Result {
    const started = performance.now();
    const result = work();
    const spent = this.#spent.get(name) ?? { since: started, took: 0 };
    spent.took += performance.now() - started;
    this.#spent.set(name, spent);
    return result;
  }

  #startSampling(): Sampler {
    this.#looked = 0;
    this.#samplingSince = performance.now();
    return new Sampler(this.place.kernel, () => this.#lookAgain());
  }

  #look(): void {
    // The thread may interrupt a snapshot that is under way.
    if (this.#sampler === null || this.#sampler.isLooking) return;
    const snapshot = this.#sampler.snapshot();
    this.#looked += snapshot.took;
    this.#send({ type: "grown", snapshot });
  }

  /** Called inside a function that makes buffers: the function may release them before the thread's next look. */
  #lookAgain(): void {
    if (this.#looked < FREE + (performance.now() - this.#samplingSince) * SHARE) this.#look();
  }

  #stopSampling(sampler: Sampler): void {
    sampler.stop();
    this.#sampler = null;
  }

  /** False when the profile cannot be closed at this moment. */
  #closeDemand(id: number): boolean {
    if (this.#sampler?.isLooking === true) return false;
    if (this.#demand?.id !== id) return true;
    const { woken } = this.#demand;
    this.#demand = null;
    void this.#end(id);
    if (woken) setImmediate(closeInspector);
    return true;
  }

  #startThread(): Worker {
    const { sessionDirectory, worker, token } = this.place;
    const workerData: ThreadPlace = { sessionDirectory, worker, token };
    const thread = new Worker(fileURLToPath(new URL("profile/thread.cjs", ownFolder)), {
      workerData,
      // The thread's memory counts for the worker. It needs neither the worker's options nor its variables.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    thread.unref();
    thread.on("message", (message: FromThread) => this.#fromThread(message));
    thread.on("error", (error) => this.#lost(thread, error));
    thread.on("exit", () => this.#lost(thread, null));
    return thread;
  }

  #fromThread(message: FromThread): void {
    if (message.type === "problem") process.stderr.write(`profile: ${message.problem}\n`);
    else {
      this.#written.get(message.id)?.();
      this.#written.delete(message.id);
      this.#idle ??= setTimeout(() => this.#endThread(), THREAD_IDLE).unref();
    }
  }

  /** Ends the thread only after a while: starting it takes 40 ms, and a function may soon be called again. */
  #endThread(): void {
    this.#idle = null;
    const thread = this.#thread;
    if (thread === null || this.#sampler !== null || this.#written.size > 0) return;
    this.#thread = null;
    void thread.terminate();
  }

  /** Without the thread there is no profile file, but the function goes on. */
  #lost(thread: Worker, error: Error | null): void {
    if (error !== null) process.stderr.write(`profile: the profiling thread failed: ${error.stack ?? error.message}\n`);
    if (this.#thread !== thread) return;
    this.#thread = null;
    for (const resolve of this.#written.values()) resolve();
    this.#written.clear();
  }

  #send(message: ToThread): void {
    this.#thread?.postMessage(message);
  }
}

export type { Recorder };

/** The type of this module for code that loads it on demand. */
export interface RecorderModule {
  openRecorder(place: RecorderPlace): Recorder;
}

export function openRecorder(place: RecorderPlace): Recorder {
  return new Recorder(place);
}
