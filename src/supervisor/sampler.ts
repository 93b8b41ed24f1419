/**
 * Measures memory and reports it: the session's processes every `interval`, the node every `memoryMonitorRefreshMs`. It
 * measures while there is a job, and afterwards until every worker is below its spill threshold, so that a leaking idle
 * worker is noticed. The scheduler decides what follows.
 */
import type { MemoryGauge } from "../memory/index.ts";
import type {
  Bytes,
  MemorySettings,
  Milliseconds,
  NodeMemory,
  ProcessMemory,
  WorkerId,
  WorkerReading,
} from "../protocol/index.ts";
import type { Event, WorkerEnd } from "../scheduler/index.ts";
import { every, realClock } from "./clock.ts";

interface Sampled {
  readonly settings: MemorySettings;
  /** Pid of the program. */
  readonly program: number;
  workers(): readonly { readonly worker: WorkerId; readonly pid: number }[];
  /** Null: no limit. */
  limitOf(worker: WorkerId): Bytes | null;
  tell(event: Event): void;
  /** Looks at the node while no other session does. */
  inTurn(look: (mayEnd: boolean) => void): void;
}

/** Ten seconds of a worker's life with the default interval. */
const CURVE_LENGTH = 50;
/** Between two looks at the node while the program waits. */
const HURRY: Milliseconds = 20;
const NOTHING: ProcessMemory = { private: 0, shared: 0, children: 0 };

export class Sampler {
  readonly #sampled: Sampled;
  readonly #gauge: MemoryGauge;
  readonly #curves = new Map<WorkerId, WorkerEnd["curve"]>();
  #readings: readonly WorkerReading[] = [];
  #node: NodeMemory | null = null;
  #busy = false;
  /** Functions that stop the timers; empty: nothing is measured. */
  #timers: readonly (() => void)[] = [];
  /** Stops the frequent measurements of the node; null: there are none. */
  #hurry: (() => void) | null = null;

  constructor(sampled: Sampled, gauge: MemoryGauge) {
    this.#sampled = sampled;
    this.#gauge = gauge;
  }

  /** Whether there is a job. */
  set busy(busy: boolean) {
    this.#busy = busy;
    if (!busy || this.#timers.length > 0) return;
    const { interval, memoryMonitorRefreshMs } = this.#sampled.settings;
    const watchesNode = memoryMonitorRefreshMs > 0;
    const timers = [every(realClock, interval, () => this.#lookAtWorkers())];
    if (watchesNode) timers.push(every(realClock, memoryMonitorRefreshMs, () => this.#lookAtNode()));
    this.#timers = timers;
    // Deferred, so that it does not run inside the handling of an event.
    setImmediate(() => {
      if (this.#timers !== timers) return;
      this.#lookAtWorkers();
      if (watchesNode) this.#lookAtNode();
    });
  }

  /** Measures the node often, until the next call with false: somebody waits for memory to become free. */
  set hurried(hurried: boolean) {
    if (hurried === (this.#hurry !== null)) return;
    this.#hurry?.();
    this.#hurry = hurried ? every(realClock, HURRY, () => this.#lookAtNode()) : null;
  }

  /** The node as it is now. */
  nodeNow(): NodeMemory {
    this.#node = this.#gauge.node();
    return this.#node;
  }

  /** Measures everything at once; workers first, because the node's reading uses theirs. */
  look(): void {
    this.#lookAtWorkers();
    this.#lookAtNode();
  }

  /** A worker's last readings, oldest first; also of a worker that has just ended. */
  curveOf(worker: WorkerId): WorkerEnd["curve"] {
    return this.#curves.get(worker) ?? [];
  }

  /** The last readings. */
  readings(): readonly WorkerReading[] {
    return this.#readings;
  }

  /** The last reading of the node; null: not measured yet. */
  get node(): NodeMemory | null {
    return this.#node;
  }

  close(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers = [];
  }

  #lookAtWorkers(): void {
    const { program, tell } = this.#sampled;
    const workers = this.#sampled.workers();
    this.#readings = workers.flatMap(({ worker, pid }) => {
      const memory = this.#gauge.process(pid);
      return memory === null ? [] : [{ worker, ...memory }];
    });
    this.#keepCurves(workers.map(({ worker }) => worker));
    // Without descendants: those are the session's own processes.
    const supervisor = this.#gauge.process(process.pid, "alone") ?? NOTHING;
    const wasBusy = this.#busy;
    tell({
      type: "memory",
      workers: this.#readings,
      supervisor,
      program: this.#gauge.process(program, "alone") ?? NOTHING,
      used: this.#sampled.settings.memoryMonitorRefreshMs > 0 ? this.#gauge.node().used : null,
    });
    if (!wasBusy && !this.#busy && !this.#readings.some((reading) => this.#isHigh(reading))) this.close();
  }

  #lookAtNode(): void {
    this.#sampled.inTurn((mayEnd) => {
      this.#sampled.tell({ type: "nodeMemory", ...this.nodeNow(), ...(mayEnd ? {} : { mayEnd }) });
    });
  }

  #keepCurves(living: readonly WorkerId[]): void {
    for (const worker of this.#curves.keys()) if (!living.includes(worker)) this.#curves.delete(worker);
    const at: Milliseconds = performance.now();
    for (const { worker, private: bytes } of this.#readings) {
      const curve = this.#curves.get(worker) ?? [];
      this.#curves.set(worker, [...curve, { at, private: bytes }].slice(-CURVE_LENGTH));
    }
  }

  #isHigh({ worker, private: bytes }: WorkerReading): boolean {
    const { spill } = this.#sampled.settings.thresholds;
    const limit = this.#sampled.limitOf(worker);
    return spill !== false && limit !== null && bytes > spill * limit;
  }
}
