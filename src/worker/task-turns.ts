/**
 * The turns that a running task gives the event loop, so that a cancel can arrive. A cancelled task ends at its next
 * check.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { CancelledError } from "../errors/index.ts";

/** How long a task may block the event loop (and with it a cancel) between two batches. */
const TURN_MS = 20;

export class TaskTurns {
  #cancelled = false;
  #started = performance.now();

  constructor(private readonly operator: string) {}

  cancel(): void {
    this.#cancelled = true;
  }

  /** Throws once the task is cancelled. */
  check(): void {
    if (this.#cancelled) throw new CancelledError(`${this.operator} was cancelled.`);
  }

  /** Gives the event loop its turn when one is due. Throws like check. */
  take(): void | Promise<void> {
    if (performance.now() - this.#started > TURN_MS) return this.#take();
    this.check();
  }

  async #take(): Promise<void> {
    await nextTurn();
    this.#started = performance.now();
    this.check();
  }
}
