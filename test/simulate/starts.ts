/**
 * What holds for the starts of simulated workers, as docs/deaths.md has it: how soon one may start after others have
 * died, and how often in a row. Counted here from what happens, not from what the scheduler remembers.
 */

/** A replacement of a worker that died for memory waits so long at least. */
const SHORTEST_PAUSE = 1_000;
const [FIRST_PAUSE, LONGEST_PAUSE] = [100, 5_000];
/** Deaths in a row from which on nothing is started by itself. */
const LAST_DEATH = 6;
const LAST_FAILURE = 5;
/** A worker that has not connected by then hangs. */
const START_TIMEOUT = 60_000;

export class StartRules {
  #noneBefore = 0;
  #failures = 0;
  #deaths = 0;
  #givenUpAt = -1;
  /** When workers have died for memory. */
  readonly #diedAt: number[] = [];
  /** In a row, at most. */
  mostFailures = 0;
  mostDeaths = 0;

  constructor(
    private readonly slots: number,
    /** How many more there may be for a while. */
    private readonly extra: number,
  ) {}

  /** Nothing is started by itself any more; `event`: the number of what the scheduler was told. */
  givenUp(event: number, alive: number): void {
    if (alive > 0) throw new Error(`jobs failed for want of workers, and there are ${alive}`);
    this.#givenUpAt = event;
  }

  ordered(now: number, event: number): void {
    if (event === this.#givenUpAt) throw new Error("jobs failed for want of workers, and one is started");
    if (now < this.#noneBefore) throw new Error(`a worker starts ${this.#noneBefore - now} ms too soon`);
  }

  /** `alive`: workers that are there with it, and are not about to end; without the wide kernel. */
  starts(now: number, alive: number): void {
    const waiting = this.#diedAt.filter((at) => now < at + SHORTEST_PAUSE).length;
    if (alive > Math.max(0, this.slots + this.extra - waiting)) {
      throw new Error(`${alive} of ${this.slots} workers, though ${waiting} have died for memory just now`);
    }
  }

  connects(): void {
    this.#failures = 0;
  }

  /** The scheduler no longer waits for a worker that began so long ago. */
  isGivenUp(waited: number, state: "starting" | "up" | "dead"): void {
    if (state !== "starting") throw new Error(`a worker that is ${state} was given up at its start`);
    if (waited !== START_TIMEOUT) throw new Error(`a starting worker was given up after ${waited} ms`);
  }

  failsToStart(now: number): void {
    this.#failures += 1;
    this.mostFailures = Math.max(this.mostFailures, this.#failures);
    // Those that were started together have one pause.
    if (now >= this.#noneBefore) {
      this.#noneBefore = now + Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (this.#failures - 1));
    }
  }

  diesForMemory(now: number): void {
    this.#diedAt.push(now);
    this.#deaths += 1;
    this.mostDeaths = Math.max(this.mostDeaths, this.#deaths);
  }

  taskDone(): void {
    this.#deaths = 0;
  }

  /** Whether a job may have failed for want of workers, with this error. */
  mayHaveFailed(error: string): boolean {
    if (error.startsWith("WorkerDiedError: Workers cannot be started")) return this.mostFailures >= LAST_FAILURE;
    const inARow = Number(/No worker is left: (\d+) in a row/.exec(error)?.[1]);
    return inARow >= LAST_DEATH && inARow <= this.mostDeaths;
  }

  /** Fewer workers than the session is to have may be left at the end: those that were given up. */
  get mayHaveGivenUp(): boolean {
    return this.mostDeaths >= LAST_DEATH;
  }
}
