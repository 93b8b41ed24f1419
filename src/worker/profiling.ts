/**
 * Heap profiles of this worker: of operators with `profile: true`, of code that calls `profileHeap`, and on demand. The
 * code is loaded synchronously with the first profile, because a function may ask in its middle.
 */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { programNamed, sourceMapOf } from "../closure/revive.ts";
import { ownFolder } from "../place/index.ts";
import {
  type Recorder,
  type RecorderModule,
  type RecorderPlace,
  type Recording,
  setWorkerProfiler,
  type WorkerProfiler,
} from "../profile/index.ts";
import type { WorkerOperator } from "../protocol/index.ts";
import type { LeasedKernel } from "./leased-kernel.ts";

/** Milliseconds between two questions to the kernel about its memory while a profile runs. */
const KERNEL_LOOK = 500;

export class Profiling implements WorkerProfiler {
  readonly #operators = new Map<string, Recording>();
  #recorder: Recorder | null = null;
  /** Profile files that are being written. */
  readonly #closing = new Set<Promise<void>>();
  #kernelBytes = 0;
  #kernelTimer: NodeJS.Timeout | null = null;
  #running = 0;
  #lastDemand = 0;

  constructor(
    private readonly place: Omit<RecorderPlace, "kernel" | "script">,
    private readonly kernel: () => LeasedKernel,
  ) {
    setWorkerProfiler(this);
  }

  /** Profiles from the operator's first task in this worker until the operator has ended. */
  taskStarts(key: string, spec: WorkerOperator): void {
    const profiled = spec.steps.filter((step) => step.kind === "function" && step.options.profile === true);
    if (profiled.length === 0 || this.#operators.has(key)) return;
    const label = profiled.map(({ operator }) => operator).join("->");
    this.#operators.set(key, this.#opened(this.#open().open("operator", label)));
  }

  operatorEnds(key: string): Promise<void> {
    const recording = this.#operators.get(key);
    this.#operators.delete(key);
    return recording?.close() ?? Promise.resolve();
  }

  /** For code that calls `profileHeap`. */
  profile(label: string): { close(): void } {
    const recording = this.#opened(this.#open().open("function", label));
    return { close: () => void recording.close() };
  }

  demand(request: number, seconds: number, woken: boolean): string | null {
    // The request also arrives as a message once this worker reads messages again.
    if (request <= this.#lastDemand) return null;
    this.#lastDemand = request;
    return this.#open().demand({ request, seconds, woken });
  }

  /** Awaited before the end of the work is reported, so that its profiles exist by then. */
  async written(): Promise<void> {
    await Promise.all(this.#closing);
  }

  get isRunning(): boolean {
    return this.#running > 0 || this.#closing.size > 0;
  }

  /** This process is ending: writes the running profiles. */
  async end(): Promise<void> {
    for (const key of [...this.#operators.keys()]) void this.operatorEnds(key);
    await this.written();
  }

  #opened(recording: Recording): Recording {
    this.#running += 1;
    this.#kernelTimer ??= setInterval(() => void this.#askKernel(), KERNEL_LOOK).unref();
    let isOpen = true;
    return {
      close: () => {
        if (isOpen) this.#running -= 1;
        isOpen = false;
        if (this.#running === 0 && this.#kernelTimer !== null) {
          clearInterval(this.#kernelTimer);
          this.#kernelTimer = null;
        }
        const closed = recording.close();
        this.#closing.add(closed);
        return closed.finally(() => this.#closing.delete(closed));
      },
    };
  }

  async #askKernel(): Promise<void> {
    this.#kernelBytes = (await this.kernel().usage()).memory;
  }

  #open(): Recorder {
    if (this.#recorder === null) {
      const path = fileURLToPath(new URL("profile/recorder.cjs", ownFolder));
      const { openRecorder }: RecorderModule = createRequire(import.meta.url)(path);
      this.#recorder = openRecorder({ ...this.place, kernel: () => this.#kernelBytes, script: scriptFacts });
    }
    return this.#recorder;
  }
}

/**
 * Facts of a shipped function come from the tables that were shipped with it; facts of a module come from its loader's
 * source map.
 */
function scriptFacts(url: string): ReturnType<RecorderPlace["script"]> {
  const program = programNamed(url);
  if (program !== null) {
    const { filename, files, positions } = program;
    return { kind: "program", filename, files, positions: [...positions] };
  }
  const json = sourceMapOf(url);
  return json === null ? null : { kind: "map", json };
}
