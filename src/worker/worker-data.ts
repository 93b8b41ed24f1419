/**
 * The worker data of this worker: made before the first task, measured after each task and now and then during one, and
 * asked to free memory. Its size is reported to the scheduler when it changes.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
// Imported past the door, as in loaded-operator.ts.
import { reviveFunction } from "../closure/revive.ts";
import { FunctionError } from "../errors/index.ts";
import type { Bytes, Milliseconds, WorkerId } from "../protocol/index.ts";
import { isEvicting, type MapLike, missingMethods, setWorkerData, workerDataBytes } from "../worker-data/index.ts";
import { LettingGo } from "./letting-go.ts";
import { userFailure } from "./user-failure.ts";

/** While a task runs. The scheduler measures memory as often. */
const INTERVAL: Milliseconds = 200;
/** Measuring a million values takes a while. It may take this share of the time. */
const SHARE = 0.02;
/**
 * The duration of a measurement is the least of this many: garbage collection may fall into one of them, and a clock
 * tick may count in full.
 */
const TIMES = 3;

/** What the worker is told. */
export interface WorkerDataEvents {
  holds(bytes: Bytes, evicts: boolean): void;
  /** The worker data has freed memory on request, which must now go back to the system. */
  evicted(): Promise<unknown>;
  /** The worker data was asked to free memory. Asking again would not help before something has changed. */
  nothingToEvict(): void;
  /** The user's code does not behave as it should. The size that was reported last still counts. */
  failed(problem: string): void;
}

export class OwnWorkerData {
  #told = -1;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** How long the last measurements took, oldest first. */
  readonly #took: Milliseconds[] = [];
  #timer: NodeJS.Timeout | null = null;
  #taskRuns = false;
  #evicting = false;
  readonly #lettingGo: LettingGo;
  /** Each problem is reported once: measurements happen many times a second. */
  readonly #saidOf = new Set<"evict" | "measure">();

  constructor(
    private readonly data: MapLike,
    private readonly events: WorkerDataEvents,
  ) {
    this.#lettingGo = new LettingGo((text) => this.#failed("evict", text));
    this.look();
  }

  /** Loads the code, makes the worker data, and puts it where functions find it. */
  static async open(
    payload: string,
    worker: WorkerId,
    sessionDirectory: string,
    events: WorkerDataEvents,
  ): Promise<OwnWorkerData> {
    const { call, construct, args, mapStack } = await reviveFunction(Buffer.from(payload, "base64"));
    const directory = join(sessionDirectory, `data-${worker}`);
    let made: unknown;
    try {
      if (construct === null) {
        mkdirSync(directory, { recursive: true });
        made = await call(...args, { worker, directory });
      } else made = construct();
    } catch (thrown) {
      throw userFailure("data", `the data of worker ${worker} could not be made`, thrown, mapStack);
    }
    const data = checked(made);
    setWorkerData(data);
    return new OwnWorkerData(data, events);
  }

  taskStarts(): void {
    this.#taskRuns = true;
    this.look();
  }

  /** Called before the scheduler is told, which would otherwise take growth of the worker data for a leak. */
  taskEnds(): void {
    this.#taskRuns = false;
    this.look();
  }

  /** Measures now, or when the last measurement is long enough ago; repeatedly while a task runs. */
  look(): void {
    const pause = this.#pause;
    const due = this.#lookedAt + pause - performance.now();
    if (due <= 0) this.#measure();
    if (due <= 0 && !this.#taskRuns) return;
    const again = () => {
      this.#timer = null;
      this.look();
    };
    this.#timer ??= setTimeout(again, due <= 0 ? Math.max(INTERVAL, pause) : due).unref();
  }

  /** Measures now, however long it takes: a decision depends on it. */
  lookNow(): void {
    this.#measure();
  }

  /** The least time between two measurements. */
  get #pause(): Milliseconds {
    return this.#took.length === 0 ? 0 : Math.min(...this.#took) / SHARE;
  }

  /** Frees this many bytes, or all that it can. A further request during this one has no effect. */
  async evict(bytes: Bytes): Promise<void> {
    if (this.#evicting || !isEvicting(this.data)) return;
    this.#measure();
    const before = this.#told;
    this.#evicting = true;
    try {
      const { freed, isEnough } = await this.#lettingGo.free(this.data, bytes);
      if (freed > 0) await this.events.evicted();
      this.#evicting = false;
      this.#measure();
      // Whatever `evict` returned, it is as large as before.
      if (!isEnough || this.#told >= before) this.events.nothingToEvict();
    } finally {
      this.#evicting = false;
    }
  }

  #measure(): void {
    const cpu = process.cpuUsage();
    try {
      this.#tell(workerDataBytes(this.data));
    } catch (error) {
      this.#failed("measure", `worker data cannot be measured: ${String(error)}`);
    }
    // CPU time and not the clock: on a busy machine other processes take most of the latter.
    const { user, system } = process.cpuUsage(cpu);
    this.#lookedAt = performance.now();
    this.#took.push((user + system) / 1000);
    if (this.#took.length > TIMES) this.#took.shift();
  }

  #tell(bytes: Bytes): void {
    if (bytes === this.#told) return;
    // What it has freed is garbage until the system has it back: it must not look like a leak meanwhile.
    if (this.#evicting && bytes < this.#told) return;
    this.#told = bytes;
    this.events.holds(bytes, isEvicting(this.data));
  }

  #failed(what: "evict" | "measure", text: string): void {
    if (this.#saidOf.has(what)) return;
    this.#saidOf.add(what);
    this.events.failed(text);
  }
}

function checked(made: unknown): MapLike {
  const missing = missingMethods(made);
  if (isWorkerData(made, missing)) return made;
  throw new FunctionError(
    `data: the factory's result cannot be worker data: it has no ${missing.map((name) => `${name}()`).join(", ")}. A Map has all of them.`,
    "data",
    null,
    null,
    [],
    "TypeError",
    null,
  );
}

function isWorkerData(made: unknown, missing: readonly string[]): made is MapLike {
  return typeof made === "object" && made !== null && missing.length === 0;
}
