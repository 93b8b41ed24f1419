/** Carries out the scheduler's commands, in the order given. */
import type { ArenaRange, JobNews, Milliseconds, ToProgram } from "../protocol/index.ts";
import type { Command } from "../scheduler/index.ts";
import type { JobFiles } from "./job-files.ts";
import type { Spilling } from "./spilling.ts";
import type { Workforce } from "./workforce.ts";

/** What commands act on. */
interface Executors {
  readonly workers: Workforce;
  readonly spilling: Spilling;
  readonly files: JobFiles;
  /** The arena's file. */
  readonly arena: number;
  /** The session is open. */
  isOpen(): boolean;
  toProgram(message: ToProgram): void;
  /** Adds the job's figures. */
  withStats(news: JobNews, at: Milliseconds): ToProgram;
}

export class Commands {
  readonly #by: Executors;
  #punchHole: ((fd: number, offset: number, length: number) => void) | null = null;
  /** Commands that wait until `punchHole` is loaded: commands after a punch may run only after it. */
  #backlog: Command[] | null = null;

  constructor(by: Executors) {
    this.#by = by;
  }

  carryOut(commands: readonly Command[]): void {
    for (const [at, command] of commands.entries()) {
      if (this.#backlog !== null) {
        this.#backlog.push(...commands.slice(at));
        return;
      }
      this.#carryOutOne(command);
    }
  }

  #carryOutOne(command: Command): void {
    const { workers, spilling, files } = this.#by;
    const { pool } = workers;
    switch (command.type) {
      case "toProgram":
        this.#by.toProgram(command.message);
        return;
      case "jobNews":
        this.#by.toProgram(this.#by.withStats(command.news, command.at));
        return;
      case "toWorker":
        pool.send(command.worker, command.message);
        return;
      case "punch":
        this.#punch(command.ranges);
        return;
      case "spill":
      case "restore":
      case "unspill":
        spilling.carryOut(command);
        return;
      case "terminate":
        pool.terminate(command.worker);
        return;
      case "kill":
        pool.kill(command.worker, command.reason);
        return;
      case "event": {
        const event = { at: new Date().toISOString(), ...command.event };
        this.#by.toProgram({ type: "event", event });
        return;
      }
      case "workerLimits":
        workers.setLimits(command.limit, command.heap);
        return;
      case "measure":
        this.#afterwards(() => workers.measure(command.request));
        return;
      case "spawn":
        this.#afterwards(() => pool.spawn(command.memory));
        return;
      case "spawnWide":
        this.#afterwards(() => pool.spawn(null, "wide"));
        return;
      case "unavailable":
        workers.everyWorker.unavailable(command.error);
        return;
      case "replace":
        pool.dismiss(command.worker);
        this.#afterwards(() => pool.spawn(command.memory));
        return;
      case "dismiss":
        pool.dismiss(command.worker);
        return;
      case "stage":
      case "commit":
      case "discard":
        files.carryOut(command);
        return;
    }
  }

  /** What tells the scheduler something at once must not run inside the handling of an event. */
  #afterwards(run: () => void): void {
    setImmediate(() => {
      if (this.#by.isOpen()) run();
    });
  }

  /** The C boundary is loaded after the start, or here, so that a session's first result does not wait for it. */
  #punch(ranges: readonly ArenaRange[]): void {
    if (this.#punchHole !== null) {
      for (const { offset, length } of ranges) this.#punchHole(this.#by.arena, offset, length);
      return;
    }
    this.#backlog = [{ type: "punch", ranges }];
    void import("../native/index.ts").then(({ punchHole }) => {
      this.#punchHole = punchHole;
      const commands = this.#backlog ?? [];
      this.#backlog = null;
      if (this.#by.isOpen()) this.carryOut(commands);
    });
  }
}
