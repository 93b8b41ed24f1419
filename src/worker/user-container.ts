/**
 * The user's container of this worker: made before the first task, measured after each and now and then meanwhile,
 * asked to let go of something. What it holds is told to the scheduler when it has changed.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
// Past the door, as in loaded-operator.ts.
import { reviveFunction } from "../closure/revive.ts";
import { containerBytes, isEvicting, type MapLike, missingMethods, setWorkerData } from "../container/index.ts";
import { FunctionError } from "../errors/index.ts";
import type { Bytes, Milliseconds, WorkerId } from "../protocol/index.ts";
import { LettingGo } from "./letting-go.ts";
import { userFailure } from "./user-failure.ts";

/** While a task runs; the scheduler looks at memory as often. */
const INTERVAL: Milliseconds = 200;
/** Measuring a million values takes a while: it takes this share of the time at most. */
const SHARE = 0.02;
/**
 * What it takes is the least of so many times: a collection of garbage meanwhile is not its doing, and a tick may count
 * for all.
 */
const TIMES = 3;

/** What the worker tells on. */
export interface ContainerEvents {
  holds(bytes: Bytes, evicts: boolean): void;
  /** It let go of something on request: the system shall see that. */
  evicted(): Promise<unknown>;
  /** It was asked to let go, and to ask again would not help before something has changed. */
  spent(): void;
  /** Its own code does not do what it should; what it held before counts on. */
  failed(problem: string): void;
}

export class UserContainer {
  #told = -1;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** What the last times took, the oldest first. */
  readonly #took: Milliseconds[] = [];
  #timer: NodeJS.Timeout | null = null;
  #taskRuns = false;
  #evicting = false;
  readonly #lettingGo: LettingGo;
  /** It is measured many times a second. */
  readonly #saidOf = new Set<"evict" | "measure">();

  constructor(
    private readonly container: MapLike,
    private readonly events: ContainerEvents,
  ) {
    this.#lettingGo = new LettingGo((text) => this.#failed("evict", text));
    this.look();
  }

  /** Loads what it needs, makes it, and puts it where functions find it. */
  static async open(
    payload: string,
    worker: WorkerId,
    sessionDirectory: string,
    events: ContainerEvents,
  ): Promise<UserContainer> {
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
    const container = checked(made);
    setWorkerData(container);
    return new UserContainer(container, events);
  }

  taskStarts(): void {
    this.#taskRuns = true;
    this.look();
  }

  /** Before the scheduler is told: it would take what the container holds for a leak. */
  taskEnds(): void {
    this.#taskRuns = false;
    this.look();
  }

  /** Measures it, now or when the last time is long enough ago; again and again while a task runs. */
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

  /** What it holds now, whatever it takes to know: somebody decides by it. */
  lookNow(): void {
    this.#measure();
  }

  /** So long it is not measured again. */
  get #pause(): Milliseconds {
    return this.#took.length === 0 ? 0 : Math.min(...this.#took) / SHARE;
  }

  /**
   * Until so many bytes are free, or nothing is left that it could free. Asked again meanwhile, it does no more than
   * that.
   */
  async evict(bytes: Bytes): Promise<void> {
    if (this.#evicting || !isEvicting(this.container)) return;
    this.#measure();
    const before = this.#told;
    this.#evicting = true;
    try {
      const { freed, isEnough } = await this.#lettingGo.free(this.container, bytes);
      if (freed > 0) await this.events.evicted();
      this.#evicting = false;
      this.#measure();
      // Whatever it says, it is as large as before.
      if (!isEnough || this.#told >= before) this.events.spent();
    } finally {
      this.#evicting = false;
    }
  }

  #measure(): void {
    const cpu = process.cpuUsage();
    try {
      this.#tell(containerBytes(this.container));
    } catch (error) {
      this.#failed("measure", `worker data cannot be measured: ${String(error)}`);
    }
    // Not by the clock: on a busy machine others take most of that time.
    const { user, system } = process.cpuUsage(cpu);
    this.#lookedAt = performance.now();
    this.#took.push((user + system) / 1000);
    if (this.#took.length > TIMES) this.#took.shift();
  }

  #tell(bytes: Bytes): void {
    if (bytes === this.#told) return;
    // What it lets go of is garbage until the system has it back: nobody may take it for a leak.
    if (this.#evicting && bytes < this.#told) return;
    this.#told = bytes;
    this.events.holds(bytes, isEvicting(this.container));
  }

  #failed(what: "evict" | "measure", text: string): void {
    if (this.#saidOf.has(what)) return;
    this.#saidOf.add(what);
    this.events.failed(text);
  }
}

function checked(made: unknown): MapLike {
  const missing = missingMethods(made);
  if (isContainer(made, missing)) return made;
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

function isContainer(made: unknown, missing: readonly string[]): made is MapLike {
  return typeof made === "object" && made !== null && missing.length === 0;
}
