/**
 * Shows all jobs of the program: on a terminal as lines that are redrawn, elsewhere as a plain line every ten seconds.
 * Jobs that end before anybody would look are not shown.
 */
import type { WriteStream } from "node:tty";
import type { JobStats, Milliseconds, OperatorId } from "../../protocol/index.ts";
import type { JobObserver } from "../job.ts";
import { jobLines, type Paint, plainLine, type ShownJob } from "./lines.ts";
import { Rate } from "./rate.ts";
import { Screen } from "./screen.ts";

const FIRST_MS: Milliseconds = 500;
const DRAWN_EVERY_MS: Milliseconds = 100;
const PLAIN_EVERY_MS: Milliseconds = 10_000;
/** More lines would hide the program's own output. */
const MOST_LINES = 16;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const COLOURS = { green: 32, yellow: 33, red: 31 } as const;

interface Entry {
  readonly startedAt: Milliseconds;
  readonly visibleFrom: Milliseconds;
  readonly rates: Map<OperatorId, Rate>;
  stats: JobStats | null;
}

export class Display {
  readonly #stream: WriteStream;
  readonly #entries = new Set<Entry>();
  readonly #screen: Screen | null;
  readonly #paint: Paint;
  #timer: NodeJS.Timeout | null = null;
  #isShown = false;
  #drawnAt: Milliseconds = 0;
  #shownUntil: Milliseconds = Number.NEGATIVE_INFINITY;

  constructor(stream: WriteStream, beside: readonly WriteStream[]) {
    this.#stream = stream;
    // A terminal that cannot move its cursor gets plain lines.
    const isTerminal = stream.isTTY === true && process.env.TERM !== "dumb";
    const streams = [stream, ...beside.filter(({ isTTY }) => isTTY === true)];
    this.#screen = isTerminal ? new Screen(stream, streams, () => this.#covered()) : null;
    const isColoured = isTerminal && (stream.getColorDepth?.() ?? 1) > 1 && !process.env.NO_COLOR;
    this.#paint = (text, colour) => (isColoured ? `\x1b[${COLOURS[colour]}m${text}\x1b[0m` : text);
  }

  job(): JobObserver {
    const now = performance.now();
    // The windows of a pipeline are jobs that follow one another.
    const follows = now - this.#shownUntil < FIRST_MS;
    const entry: Entry = {
      startedAt: now,
      visibleFrom: now + (follows ? 0 : FIRST_MS),
      rates: new Map(),
      stats: null,
    };
    this.#entries.add(entry);
    const every = this.#screen === null ? PLAIN_EVERY_MS : DRAWN_EVERY_MS;
    this.#timer ??= setInterval(() => this.#show(), every).unref();
    return {
      progress: (stats) => this.#take(entry, stats),
      ended: () => this.#end(entry),
    };
  }

  #take(entry: Entry, stats: JobStats): void {
    const now = performance.now();
    entry.stats = stats;
    for (const { id, bytesOut } of stats.operators) {
      const rate = entry.rates.get(id) ?? new Rate();
      entry.rates.set(id, rate);
      rate.add(now, bytesOut.total);
    }
  }

  #end(entry: Entry): void {
    this.#entries.delete(entry);
    if (this.#entries.size > 0) return;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    if (this.#isShown) this.#away();
  }

  #show(): void {
    const now = performance.now();
    const jobs = this.#visible(now);
    if (this.#screen === null) {
      for (const job of jobs) this.#stream.write(`${plainLine(job)}\n`);
      return;
    }
    if (jobs.length === 0) {
      if (this.#isShown) this.#away();
      return;
    }
    if (!this.#isShown) this.#begin();
    this.#drawnAt = now;
    const { width, rows } = this.#screen;
    const room = Math.max(1, Math.min(MOST_LINES, rows - 2));
    const each = Math.max(1, Math.floor(room / jobs.length));
    const lines = jobs.flatMap((job) => jobLines(job, width, each, this.#paint));
    this.#screen.draw(lines.slice(0, room));
  }

  #visible(now: Milliseconds): readonly ShownJob[] {
    return [...this.#entries].flatMap(({ startedAt, visibleFrom, stats, rates }) => {
      if (stats === null || now < visibleFrom) return [];
      return [{ stats, rates, elapsed: now - startedAt }];
    });
  }

  /** Draws at once unless that would be too often, otherwise with the next update. */
  #covered(): void {
    if (performance.now() - this.#drawnAt < DRAWN_EVERY_MS) return;
    this.#drawnAt = performance.now();
    // Draws after the program's current write.
    setImmediate(() => {
      if (this.#isShown) this.#show();
    });
  }

  #begin(): void {
    this.#isShown = true;
    for (const signal of SIGNALS) process.on(signal, this.#signalled);
    process.on("exit", this.#exits);
    this.#stream.on("resize", this.#resized);
  }

  #away(): void {
    this.#isShown = false;
    this.#shownUntil = performance.now();
    this.#screen?.end();
    for (const signal of SIGNALS) process.off(signal, this.#signalled);
    process.off("exit", this.#exits);
    this.#stream.off("resize", this.#resized);
  }

  readonly #resized = () => this.#screen?.resized();
  readonly #exits = () => this.#away();

  /** The signal keeps the effect that it has without the display; the lines are removed first. */
  readonly #signalled = (signal: NodeJS.Signals) => {
    if (process.listenerCount(signal) > 1) {
      this.#screen?.hide();
      return;
    }
    this.#away();
    process.kill(process.pid, signal);
  };
}
