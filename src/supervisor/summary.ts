/**
 * Tells the user about dead workers: not each death, because retries may succeed, but a summary per minute with deaths,
 * and the rest at the end.
 */
import { isMemoryReason } from "../errors/index.ts";
import type { DeathReason, MemorySettings, Milliseconds, Notice } from "../protocol/index.ts";
import type { Clock } from "./clock.ts";

const PERIOD: Milliseconds = 60_000;

interface SummaryOptions {
  readonly host: string;
  /** Directory of the session's logs. */
  readonly logs: string;
  readonly memory: Pick<MemorySettings, "memoryUsageThreshold" | "memoryMonitorRefreshMs">;
}

export class DeathSummary {
  readonly #options: SummaryOptions;
  readonly #clock: Clock;
  readonly #tell: (notice: Notice) => void;
  #forMemory = 0;
  #others = 0;
  #cancel: (() => void) | null = null;

  constructor(options: SummaryOptions, clock: Clock, tell: (notice: Notice) => void) {
    this.#options = options;
    this.#clock = clock;
    this.#tell = tell;
  }

  died(cause: DeathReason): void {
    if (cause === "asked") return;
    if (isMemoryReason(cause)) this.#forMemory += 1;
    else this.#others += 1;
    this.#cancel ??= this.#clock.after(PERIOD, () => this.tellPending());
  }

  /** Ends the period; the next one begins with the next death. */
  tellPending(): void {
    if (this.#cancel === null) return;
    this.#cancel();
    this.#cancel = null;
    const { host, logs, memory } = this.#options;
    const { memoryUsageThreshold, memoryMonitorRefreshMs } = memory;
    this.#tell({
      kind: "deaths",
      forMemory: this.#forMemory,
      others: this.#others,
      host,
      logs,
      memoryUsageThreshold,
      memoryMonitorRefreshMs,
    });
    this.#forMemory = 0;
    this.#others = 0;
  }
}
