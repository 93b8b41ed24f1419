/**
 * The profiling thread of a worker. It watches the process's memory, asks the main thread for snapshots while memory
 * grows, and writes the files every few seconds. It keeps working while the main thread is inside a function that never
 * returns.
 */
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../realm/index.ts";
import { Answers } from "./answers.ts";
import { writeProfile } from "./files.ts";
import { callMain } from "./main-thread.ts";
import { type MemoryNow, OwnMemory } from "./own-memory.ts";
import { Positions, type ScriptFacts } from "./positions.ts";
import { Recording } from "./recording.ts";
import type { FromThread, NewStack, Snapshot, ThreadPlace, ToThread, V8Node } from "./snapshot.ts";

const LOOK = 15;
/**
 * A snapshot is due after this growth since the last one, or after LATEST milliseconds: freed memory may be in use
 * again.
 */
const GROWTH = 1.04;
const LEAST_GROWTH = 2 * 2 ** 20;
const LATEST = 300;
/** Most of the main thread's time for snapshots, and of this thread's time for writing. */
const SHARE = 0.1;
const LEAST_BETWEEN_WRITES = 500;

class ProfilingThread {
  readonly #recordings = new Map<number, Recording>();
  readonly #stacks = new Map<number, NewStack>();
  readonly #positions = new Positions();
  readonly #memory = new OwnMemory();
  readonly #answers: Answers;
  /** The highest peak in each complete file; a run with a lower peak does not replace it. */
  readonly #written = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #isAsked = false;
  #last = { at: 0, private: 0, took: 0 };
  #nextWrite = Date.now() + LEAST_BETWEEN_WRITES;
  #work: Promise<void> = Promise.resolve();

  constructor(
    place: ThreadPlace,
    private readonly tell: (message: FromThread) => void,
  ) {
    this.#answers = new Answers(place);
  }

  receive(message: ToThread): void {
    switch (message.type) {
      case "open": {
        const { id, recorded, snapshot, demand } = message;
        this.#recordings.set(id, new Recording(id, recorded, demand, snapshot, this.#seen(snapshot)));
        if (demand !== null) {
          this.#answers.begun(demand.request);
          setTimeout(() => void this.#closeDemand(id), demand.seconds * 1000);
        }
        this.#timer ??= setInterval(() => this.#look(), LOOK);
        return;
      }
      case "grown": {
        this.#isAsked = false;
        const memory = this.#seen(message.snapshot);
        for (const recording of this.#recordings.values()) {
          if (recording.isOpen) recording.grown(message.snapshot, memory);
        }
        return;
      }
      case "close": {
        const { id, end } = message;
        this.#recordings.get(id)?.ended(end, this.#seen(end));
        this.#work = this.#work.then(() => this.#finish(id));
        return;
      }
    }
  }

  /** The process's private memory at the time of the snapshot. */
  #seen({ stacks, resident, took, at }: Snapshot): MemoryNow {
    for (const stack of stacks) this.#stacks.set(stack.id, stack);
    const now = this.#memory.now();
    const memory = { private: Math.max(0, resident - now.others), shared: now.shared, others: now.others };
    this.#last = { at, private: memory.private, took };
    return memory;
  }

  #look(): void {
    const memory = this.#memory.now();
    const at = performance.timeOrigin + performance.now();
    for (const recording of this.#recordings.values()) {
      if (recording.isOpen) recording.look(at, memory);
    }
    const { private: before, took } = this.#last;
    const since = at - this.#last.at;
    const isGrown = memory.private > before * GROWTH + LEAST_GROWTH;
    if (!this.#isAsked && since > took / SHARE && (isGrown || since > LATEST)) {
      this.#isAsked = true;
      this.#ask("grown");
    }
    if (Date.now() > this.#nextWrite) {
      this.#nextWrite = Number.POSITIVE_INFINITY;
      this.#work = this.#work.then(() => this.#writeAll());
    }
  }

  #ask(member: string, ...args: readonly number[]): void {
    callMain(member, ...args).catch((error: unknown) => {
      this.#isAsked = false;
      this.#problem(error);
    });
  }

  async #closeDemand(id: number): Promise<void> {
    try {
      // A snapshot is under way; try again soon.
      if ((await callMain("closeDemand", id)) === false) setTimeout(() => void this.#closeDemand(id), LOOK);
    } catch (error) {
      this.#problem(error);
    }
  }

  async #writeAll(): Promise<void> {
    const started = performance.now();
    for (const recording of this.#recordings.values()) if (recording.isOpen) await this.#write(recording);
    const pause = Math.max(LEAST_BETWEEN_WRITES, (performance.now() - started) / SHARE);
    this.#nextWrite = Date.now() + pause;
  }

  async #finish(id: number): Promise<void> {
    const recording = this.#recordings.get(id);
    if (recording === undefined) return;
    const problem = await this.#write(recording);
    this.#recordings.delete(id);
    if (recording.demand !== null) this.#answers.done(recording.demand.request, recording.recorded.file, problem);
    if (this.#recordings.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
    this.tell({ type: "written", id });
  }

  /** Returns null, or why the file could not be written. */
  async #write(recording: Recording): Promise<string | null> {
    const { recorded, highest, isNew } = recording;
    if (!isNew && recording.isOpen) return null;
    const { file } = recorded;
    if (highest < (this.#written.get(file) ?? 0)) return null;
    recording.isNew = false;
    try {
      await this.#learn(recording);
      writeProfile(file, recording.file(this.#stacks, this.#positions));
      if (!recording.isOpen) this.#written.set(file, highest);
      return null;
    } catch (error) {
      this.#problem(error);
      return messageOf(error);
    }
  }

  /** Fetches the missing facts about scripts from the main thread. */
  async #learn(recording: Recording): Promise<void> {
    const urls = new Set<string>();
    for (const { frames } of this.#stacks.values()) for (const { url } of frames) urls.add(url);
    const visit = ({ callFrame, children }: V8Node): void => {
      urls.add(callFrame.url);
      for (const child of children) visit(child);
    };
    for (const { v8 } of recording.snapshots()) visit(v8.head);
    for (const url of this.#positions.unknown(urls)) {
      const told = await callMain("script", url);
      this.#positions.learn(url, typeof told === "string" ? (JSON.parse(told) as ScriptFacts) : null);
    }
  }

  #problem(error: unknown): void {
    this.tell({ type: "problem", problem: messageOf(error) });
  }
}

const port = parentPort;
if (port !== null) {
  const thread = new ProfilingThread(workerData as ThreadPlace, (message) => port.postMessage(message));
  port.on("message", (message: ToThread) => thread.receive(message));
}
