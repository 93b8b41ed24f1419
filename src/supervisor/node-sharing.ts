/**
 * Shares the node with the user's other sessions on it: tells them what this session does and holds, and the scheduler
 * what they leave. The monitors take turns: whoever looks at the node does so while no other session does, sees which
 * of them is ending a worker and who has the right victim, and says what it has decided before the next one looks.
 */
import { OptionError } from "../errors/index.ts";
import { grantOf, nodeKey, refusal, type SessionOnNode } from "../memory/index.ts";
import type { Bytes, Milliseconds, NodeMemory, Victim } from "../protocol/index.ts";
import { every, realClock } from "./clock.ts";
import type { SupervisorOptions } from "./options.ts";

/** How often sessions look at each other where nothing else makes them. */
const INTERVAL: Milliseconds = 1_000;
/** Between two jobs a session counts as busy for this long: otherwise shares would change with every job. */
const BETWEEN_JOBS: Milliseconds = 2_000;
/** A session that has said nothing for this long is stopped or hangs: nobody waits for what it is ending. */
const SILENT: Milliseconds = 5_000;

interface Entry extends SessionOnNode {
  /** When it was written. */
  readonly at: Milliseconds;
  /** It is ending a worker for memory. */
  readonly isEnding: boolean;
  /** Whom its monitor would end; null: nobody, or it has no monitor. `since` in milliseconds of the calendar. */
  readonly victim: Victim | null;
}

interface Shared {
  readonly options: SupervisorOptions;
  node(): NodeMemory;
  isBusy(): boolean;
  /** What the session's processes and its store hold now. */
  holds(): Bytes;
  isEnding(): boolean;
  victim(): Victim | null;
  given(memory: Bytes, sessions: number): void;
}

interface Ledger {
  turn(turn: (others: readonly unknown[]) => unknown): boolean;
  close(): void;
}

export class NodeSharing {
  readonly #shared: Shared;
  #ledger: Ledger | null = null;
  #cancel: () => void = () => {};
  #granted: Bytes = 0;
  #others = 0;
  /** When there was last a job. */
  #busyAt: Milliseconds = Number.NEGATIVE_INFINITY;
  #isInTurn = false;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  /** Throws if what the options ask for does not fit beside the other sessions. */
  async open(): Promise<void> {
    if (!this.#shared.options.shareNode || process.platform !== "linux") return;
    const { NodeLedger, ledgerDirectory } = await import("./node-ledger.ts");
    const { session } = this.#shared.options;
    try {
      this.#ledger = NodeLedger.open(ledgerDirectory(), nodeKey(), session);
    } catch (error) {
      process.stderr.write(`Sessions on this node do not share its memory: ${(error as Error).message}\n`);
    }
    let refused: string | null = null;
    this.#ledger?.turn((read) => {
      const others = read.filter(isEntry);
      refused = refusal(this.#shared.node().total, this.#entry(), others);
      this.#grant(others);
      return this.#entry();
    });
    if (refused !== null) {
      this.close();
      throw new OptionError(refused);
    }
    this.#cancel = every(realClock, INTERVAL, () => this.exchange());
  }

  /** Something has happened: if a job has begun, the others learn of it at once. */
  busyChanged(): void {
    if (!this.#shared.isBusy()) return;
    const wasBusy = this.#isBusy;
    this.#busyAt = performance.now();
    if (!wasBusy) setImmediate(() => this.exchange());
  }

  get #isBusy(): boolean {
    return this.#shared.isBusy() || performance.now() - this.#busyAt < BETWEEN_JOBS;
  }

  /** Tells and hears what has changed. */
  exchange(): void {
    this.look(() => {});
  }

  /** `look` is told whether this session's monitor may end a worker. */
  look(look: (mayEnd: boolean) => void): void {
    if (this.#ledger === null || this.#isInTurn) {
      look(true);
      return;
    }
    this.#isInTurn = true;
    try {
      const hadTurn = this.#ledger.turn((read) => {
        const others = read.filter(isEntry);
        this.#grant(others);
        look(this.#mayEnd(others));
        return this.#entry();
      });
      // Another session is in the middle of its turn: it may be ending a worker.
      if (!hadTurn) look(false);
    } finally {
      this.#isInTurn = false;
    }
  }

  close(): void {
    this.#cancel();
    this.#ledger?.close();
    this.#ledger = null;
  }

  #grant(others: readonly Entry[]): void {
    // Alone, as nearly always, nothing is measured.
    if (others.length === 0 && this.#others === 0 && this.#granted > 0) return;
    const { total } = this.#shared.node();
    const granted = others.length === 0 ? total : grantOf(total, this.#entry(), others);
    if (granted === this.#granted && others.length === this.#others) return;
    this.#granted = granted;
    const wasAlone = this.#others === 0;
    this.#others = others.length;
    if (others.length > 0 || !wasAlone) this.#shared.given(granted, others.length + 1);
  }

  #mayEnd(others: readonly Entry[]): boolean {
    const now = Date.now();
    const living = others.filter(({ at }) => now - at < SILENT);
    if (living.some(({ isEnding }) => isEnding)) return false;
    const own = this.#victim();
    return own === null || living.every(({ victim }) => victim === null || comesBefore(own, victim));
  }

  #victim(): Victim | null {
    const victim = this.#shared.isBusy() ? this.#shared.victim() : null;
    return victim === null ? null : { ...victim, since: performance.timeOrigin + victim.since };
  }

  #entry(): Entry {
    const { options, holds, isEnding } = this.#shared;
    const { session: name, parentPid: program, claim } = options;
    return {
      name,
      program,
      isBusy: this.#isBusy,
      claim: claim.memory,
      claims: claim.options,
      most: claim.most,
      granted: this.#granted,
      holds: this.#others === 0 ? 0 : holds(),
      at: Date.now(),
      isEnding: isEnding(),
      victim: this.#victim(),
    };
  }
}

/** The order of the node's monitor: what the end costs, then the newest task. */
function comesBefore(one: Victim, other: Victim): boolean {
  if (one.cost !== other.cost) return one.cost < other.cost;
  return one.since === other.since ? one.private >= other.private : one.since > other.since;
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== "object" || value === null) return false;
  const { name, program, isBusy, claim, claims, most, granted, holds, at, isEnding, victim } = value as Partial<
    Record<keyof Entry, unknown>
  >;
  const numbers = [program, claim, most, granted, holds, at];
  const areNumbers = numbers.every((one) => typeof one === "number" && one >= 0);
  const areTexts = Array.isArray(claims) && claims.every((one) => typeof one === "string");
  const isVictim = victim === null || (typeof victim === "object" && victim !== undefined);
  return (
    typeof name === "string" &&
    areNumbers &&
    areTexts &&
    typeof isBusy === "boolean" &&
    typeof isEnding === "boolean" &&
    isVictim
  );
}
