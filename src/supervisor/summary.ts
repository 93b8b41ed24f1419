/**
 * What the user is told about workers that died: not one by one (each may be retried, and all be well), but once a
 * minute, as long as some do; and at the end, what has not been told yet.
 */
import { isMemoryReason } from "../errors/index.ts";
import type { DeathReason, MemorySettings, Milliseconds } from "../protocol/index.ts";
import type { Clock } from "./clock.ts";

const PERIOD: Milliseconds = 60_000;

interface SummaryOptions {
  readonly host: string;
  /** Where the logs of the session are. */
  readonly logs: string;
  readonly memory: Pick<MemorySettings, "memoryUsageThreshold" | "memoryMonitorRefreshMs">;
}

export class DeathSummary {
  readonly #options: SummaryOptions;
  readonly #clock: Clock;
  readonly #tell: (text: string) => void;
  #forMemory = 0;
  #others = 0;
  #cancel: (() => void) | null = null;

  constructor(options: SummaryOptions, clock: Clock, tell: (text: string) => void) {
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

  /** The period ends now; the next begins with the next death. */
  tellPending(): void {
    if (this.#cancel === null) return;
    this.#cancel();
    this.#cancel = null;
    this.#tell(summary(this.#forMemory, this.#others, this.#options));
    this.#forMemory = 0;
    this.#others = 0;
  }
}

function summary(forMemory: number, others: number, { host, logs, memory }: SummaryOptions): string {
  const told =
    `${forMemory} workers (tasks / actors) killed due to memory pressure (OOM), ${others} workers crashed due to other reasons ` +
    `at node ${host} over the last time period. Their logs: tail -n 20 ${logs}/worker-*.log`;
  if (forMemory === 0) return told;
  const { memoryUsageThreshold, memoryMonitorRefreshMs } = memory;
  const monitor =
    memoryMonitorRefreshMs === 0
      ? "The node's monitor is off (memoryUsageThreshold, memoryMonitorRefreshMs)."
      : `The node's monitor ends workers above memoryUsageThreshold (${memoryUsageThreshold}) of the memory; ` +
        `memoryMonitorRefreshMs (${memoryMonitorRefreshMs}) is how often it looks, 0 turns it off.`;
  return (
    `${told}\nTo have fewer of them killed: ask for the memory that a function needs (its option memory), use a smaller batchSize, ` +
    `more partitions, fewer workers, or more memory per core.\n${monitor}`
  );
}
