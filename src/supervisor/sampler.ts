/**
 * Looks at memory, and tells what it saw: the session's processes every `interval`, the node every
 * `memoryMonitorRefreshMs`. It looks while there is a job, and after that until no worker has more of its own than its
 * share for spilling: one that leaks is seen also where it has nothing to do. What follows from the figures is the
 * scheduler's.
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
  /** The program. */
  readonly program: number;
  workers(): readonly { readonly worker: WorkerId; readonly pid: number }[];
  /** Null: it has none. */
  limitOf(worker: WorkerId): Bytes | null;
  tell(event: Event): void;
}

/** Ten seconds of a worker's life, with the usual interval. */
const CURVE_LENGTH = 50;
const NOTHING: ProcessMemory = { private: 0, shared: 0, children: 0 };

export class Sampler {
  readonly #sampled: Sampled;
  readonly #gauge: MemoryGauge;
  readonly #curves = new Map<WorkerId, WorkerEnd["curve"]>();
  #readings: readonly WorkerReading[] = [];
  #node: NodeMemory | null = null;
  #busy = false;
  /** What ends the looking; none: nobody looks. */
  #timers: readonly (() => void)[] = [];

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
    // Not from within the handling of an event.
    setImmediate(() => {
      if (this.#timers !== timers) return;
      this.#lookAtWorkers();
      if (watchesNode) this.#lookAtNode();
    });
  }

  /** At once, and at everything; at workers first, so that who looks at the node knows them. */
  look(): void {
    this.#lookAtWorkers();
    this.#lookAtNode();
  }

  /** A worker's last readings, oldest first; also of one that has just ended. */
  curveOf(worker: WorkerId): WorkerEnd["curve"] {
    return this.#curves.get(worker) ?? [];
  }

  /** As they were last seen. */
  readings(): readonly WorkerReading[] {
    return this.#readings;
  }

  /** As it was last seen; null: nobody has looked yet. */
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
    // Alone: what they have started are the session's own processes.
    const supervisor = this.#gauge.process(process.pid, "alone") ?? NOTHING;
    const wasBusy = this.#busy;
    tell({
      type: "memory",
      workers: this.#readings,
      supervisor,
      program: this.#gauge.process(program, "alone") ?? NOTHING,
    });
    if (!wasBusy && !this.#busy && !this.#readings.some((reading) => this.#isHigh(reading))) this.close();
  }

  #lookAtNode(): void {
    this.#node = this.#gauge.node();
    this.#sampled.tell({ type: "nodeMemory", ...this.#node });
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
