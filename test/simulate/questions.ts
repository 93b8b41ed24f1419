/**
 * What holds for the program's questions about the memory of all processes: while the first workers start, a question
 * waits for them, and for ten seconds at most. Counted here from what happens, not from what the scheduler remembers.
 */
const LONGEST_WAIT = 10_000;

export class MemoryQuestions {
  #firstAt: number | null = null;
  #wereWorkersUp = false;
  /** Questions that have no answer yet. */
  open = 0;
  /** How many waited until the wait was over. */
  waitedInVain = 0;
  /** How many waited, and were answered when the workers were up. */
  waited = 0;

  /** No worker is starting, and none is ordered. */
  workersAreUp(): void {
    this.#wereWorkersUp = true;
  }

  isAsked(now: number): void {
    this.#firstAt ??= now;
    this.open += 1;
  }

  isAnswered(askedAt: number, now: number): void {
    this.open -= 1;
    const wait = now - askedAt;
    if (wait > LONGEST_WAIT) throw new Error(`a question about memory was answered after ${wait} ms`);
    const isOver = this.#firstAt !== null && now >= this.#firstAt + LONGEST_WAIT;
    if (!this.#wereWorkersUp && !isOver) throw new Error("a question about memory did not wait for the first workers");
    if (wait === 0) return;
    if (this.#wereWorkersUp) this.waited += 1;
    else this.waitedInVain += 1;
  }
}
