/** How much the tasks of an operator will hand over, estimated from what others have. Pure arithmetic. */
import type { Bytes } from "../../protocol/index.ts";

/** What is known of a task, for an estimate of its output. */
interface Volume {
  /** Null where unknown: a split of a file. */
  readonly bytesIn: Bytes | null;
  /** What it has handed over so far. */
  readonly bytesOut: Bytes;
}

/** Tasks added up: all of them, and those whose input is known. */
class Totals {
  tasks = 0;
  bytes: Bytes = 0;
  known = 0;
  bytesIn: Bytes = 0;
  bytesOut: Bytes = 0;

  add({ bytesIn, bytesOut }: Volume, sign: 1 | -1): void {
    this.tasks += sign;
    this.known += bytesIn === null ? 0 : sign;
    this.bytesIn += sign * (bytesIn ?? 0);
    this.grow(bytesIn, sign * bytesOut);
  }

  grow(bytesIn: Bytes | null, bytes: Bytes): void {
    this.bytes += bytes;
    if (bytesIn !== null) this.bytesOut += bytes;
  }
}

/**
 * Estimates what a task of an operator hands over, from the tasks that are done: per input byte where the input is
 * known, otherwise per task. A running task that has handed over more than expected raises the estimate at once.
 * Everything is kept as sums, because ten thousand tasks may be running.
 */
export class OutputEstimate {
  readonly #done = new Totals();
  readonly #running = new Totals();
  /** Running tasks that have handed over more than expected, and their sums. */
  readonly #surprising = new Set<Volume>();
  readonly #surprise = new Totals();

  began(task: Volume): void {
    this.#running.add(task, 1);
  }

  /** The task has handed over this many more bytes; its `bytesOut` includes them. */
  grew(task: Volume, bytes: Bytes): void {
    this.#running.grow(task.bytesIn, bytes);
    if (this.#surprising.has(task)) this.#surprise.grow(task.bytesIn, bytes);
    else if (task.bytesOut > (this.#foretold(task.bytesIn, false) ?? 0)) {
      this.#surprising.add(task);
      this.#surprise.add(task, 1);
    }
  }

  /** The task no longer runs. */
  left(task: Volume): void {
    this.#running.add(task, -1);
    if (this.#surprising.delete(task)) this.#surprise.add(task, -1);
  }

  done(task: Volume): void {
    this.#done.add(task, 1);
  }

  /** Estimate for a task with this much input; null while nothing is known. */
  of(bytesIn: Bytes | null): Bytes | null {
    return this.#foretold(bytesIn, true);
  }

  /** What the running tasks have still to hand over; null while nothing is known. */
  get rest(): Bytes | null {
    const perTask = this.#foretold(null, true);
    if (perTask === null) return null;
    const { tasks, known, bytesIn, bytes } = this.#running;
    const { tasks: odd, known: oddKnown, bytesIn: oddIn, bytes: oddBytes } = this.#surprise;
    const ofKnown = this.#foretold(bytesIn - oddIn, true) ?? 0;
    const isByByte = this.#done.bytesIn + this.#surprise.bytesIn > 0;
    const unknown = isByByte ? tasks - known - (odd - oddKnown) : tasks - odd;
    return Math.max(0, (isByByte ? ofKnown : 0) + perTask * unknown - (bytes - oddBytes));
  }

  #foretold(bytesIn: Bytes | null, withSurprises: boolean): Bytes | null {
    const done = this.#done;
    const { tasks, bytes, bytesIn: oddIn, bytesOut } = withSurprises ? this.#surprise : NOTHING;
    if (bytesIn !== null && done.bytesIn + oddIn > 0) {
      return ((done.bytesOut + bytesOut) / (done.bytesIn + oddIn)) * bytesIn;
    }
    return done.tasks + tasks === 0 ? null : (done.bytes + bytes) / (done.tasks + tasks);
  }
}

const NOTHING = new Totals();
