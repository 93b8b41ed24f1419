/** Measures from time to time what the kernel holds while a task runs, reports it, and remembers the maximum. */
import type { KernelUsage, LeasedKernel } from "./leased-kernel.ts";

const INTERVAL_MS = 250;

export class KernelWatch {
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | null = null;
  #peak: KernelUsage | null = null;

  constructor(
    private readonly kernel: Pick<LeasedKernel, "usage">,
    private readonly tell: (usage: KernelUsage) => void,
  ) {
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look();
    }, INTERVAL_MS);
  }

  /** The maximum that was measured; null if the task ended before a measurement. */
  async end(): Promise<KernelUsage | null> {
    clearInterval(this.#timer);
    await this.#looking;
    return this.#peak;
  }

  async #look(): Promise<void> {
    try {
      const usage = await this.kernel.usage();
      const { memory = 0, spilled = 0 } = this.#peak ?? {};
      this.#peak = { memory: Math.max(memory, usage.memory), spilled: Math.max(spilled, usage.spilled) };
      this.tell(usage);
    } catch {
      // A kernel without memory cannot answer; the task itself will report that.
    } finally {
      this.#looking = null;
    }
  }
}
