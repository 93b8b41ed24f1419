/**
 * Profiles on demand. An observer asks for a profile of a worker; the worker's profiling thread makes it and answers
 * over a connection of its own. The inspector interrupts a worker that is busy inside a function.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SpillwayError } from "../errors/index.ts";
import { demandExpression, fileName } from "../profile/index.ts";
import { type Milliseconds, PROFILES, type ProfilerMessage, type Wire, type WorkerId } from "../protocol/index.ts";
import { messageOf } from "../realm/index.ts";
import { evaluateIn } from "./wake-worker.ts";
import { workerLog } from "./worker-log.ts";
import type { WorkerPool } from "./worker-pool.ts";

/** A worker between two calls answers within milliseconds; after this time it is interrupted. */
const UNTIL_WOKEN: Milliseconds = 500;
/** Longest wait for the profiling thread to begin, and from the end of a profile to its file. */
const PATIENCE: Milliseconds = 30_000;
const LONGEST_SECONDS = 3600;

interface Running {
  readonly worker: WorkerId;
  readonly request: number;
  readonly seconds: number;
  state: "asked" | "begun";
  timer: NodeJS.Timeout;
  readonly resolve: (file: string) => void;
  readonly reject: (error: Error) => void;
}

type Pool = Pick<WorkerPool, "workers" | "connected" | "send">;

export class Profiles {
  readonly #running = new Map<WorkerId, Running>();
  #lastRequest = 0;

  constructor(
    private readonly pool: Pool,
    private readonly stateDirectory: string,
  ) {}

  /** Resolves to the file's name. */
  ask(worker: WorkerId, seconds: number): Promise<string> {
    const why = this.#whyNot(worker, seconds);
    if (why !== null) return Promise.reject(new SpillwayError(`profile: ${why}`));
    this.#lastRequest += 1;
    const request = this.#lastRequest;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => void this.#wake(running), UNTIL_WOKEN);
      const running: Running = { worker, request, seconds, state: "asked", timer, resolve, reject };
      this.#running.set(worker, running);
      this.pool.send(worker, { type: "profile", request, seconds });
    });
  }

  /** The profiling thread has connected. False when nobody asked for this profile. */
  welcome({ worker, request }: Extract<ProfilerMessage, { type: "profiler" }>, wire: Wire<ProfilerMessage, never>) {
    const running = this.#running.get(worker);
    if (running === undefined || running.request !== request) return false;
    running.state = "begun";
    this.#patience(
      running,
      running.seconds * 1000 + PATIENCE,
      "its profiling thread did not finish, because a call into native code blocks the worker",
    );
    wire.onMessage((message) => {
      if (message.type !== "profiled") return;
      if (message.problem !== null) this.#fail(running, `the file could not be written: ${message.problem}`);
      else this.#end(running, message.file);
    });
    return true;
  }

  /** The worker could not begin. */
  refused(worker: WorkerId, problem: string): void {
    const running = this.#running.get(worker);
    if (running !== undefined) this.#fail(running, problem);
  }

  gone(worker: WorkerId): void {
    const running = this.#running.get(worker);
    if (running !== undefined) this.#fail(running, "it ended before the profile was complete");
  }

  close(): void {
    for (const running of this.#running.values()) this.#fail(running, "the session has ended");
  }

  #whyNot(worker: WorkerId, seconds: number): string | null {
    if (!(seconds > 0 && seconds <= LONGEST_SECONDS)) {
      return `${seconds} s is out of range; give more than 0 and at most ${LONGEST_SECONDS} seconds.`;
    }
    const workers = this.pool.connected.map((one) => one.worker);
    if (!workers.includes(worker)) {
      return `there is no worker ${worker}. This session has ${workers.length === 0 ? "no workers" : `workers ${workers.join(", ")}`}.`;
    }
    return this.#running.has(worker)
      ? `worker ${worker} is being profiled already; ask again when that is done.`
      : null;
  }

  async #wake(running: Running): Promise<void> {
    const { worker, request, seconds } = running;
    const pid = this.pool.workers.find((one) => one.worker === worker)?.pid;
    if (pid === undefined || running.state !== "asked") return;
    this.#patience(running, PATIENCE, "it did not begin, because a call into native code blocks the worker");
    try {
      const log = workerLog(this.stateDirectory, worker);
      await evaluateIn(pid, log, (opened) => demandExpression(request, seconds, opened));
    } catch (error) {
      // The worker may meanwhile have left its function and begun.
      if (running.state === "asked") this.#fail(running, messageOf(error));
    }
  }

  #patience(running: Running, pause: Milliseconds, problem: string): void {
    clearTimeout(running.timer);
    running.timer = setTimeout(() => this.#fail(running, problem), pause);
  }

  #fail(running: Running, problem: string): void {
    const { worker, request } = running;
    const file = join(this.stateDirectory, PROFILES, fileName("demand", `${request}`, worker));
    const rest = existsSync(file) ? ` What it had until then is in ${file}.` : "";
    if (this.#over(running)) running.reject(new SpillwayError(`profile: worker ${worker}: ${problem}.${rest}`));
  }

  #end(running: Running, file: string): void {
    if (this.#over(running)) running.resolve(file);
  }

  #over(running: Running): boolean {
    clearTimeout(running.timer);
    if (this.#running.get(running.worker) !== running) return false;
    return this.#running.delete(running.worker);
  }
}
