/** What happened in a simulated session, in lines short enough to read: the end of it is what a failing seed prints. */
import type { Command, Event } from "../../src/scheduler/index.ts";

const KEPT = 60;

export class Story {
  readonly #lines: string[] = [];

  /** `told`: what the scheduler was told, and what it ordered. */
  add(now: number, told: Event, ordered: readonly Command[], state: string): void {
    if (told.type === "tick" && ordered.length === 0 && this.#lines.at(-1)?.includes(" tick ") === true) return;
    this.#lines.push(
      [`${now} ${describe(told)}   [${state}]`, ...ordered.map((one) => `      ${order(one)}`)].join("\n"),
    );
    if (this.#lines.length > KEPT) this.#lines.shift();
  }

  get text(): string {
    return this.#lines.join("\n");
  }
}

function describe(event: Event): string {
  switch (event.type) {
    case "fromWorker":
      return `worker ${event.worker}: ${brief(event.message)}`;
    case "fromProgram":
      return event.message.type === "start"
        ? `program: start ${event.message.job.id}`
        : `program: ${brief(event.message)}`;
    default:
      return brief(event);
  }
}

function order(command: Command): string {
  if (command.type === "toProgram") return `to the program: ${brief(command.message)}`;
  if (command.type === "toWorker") {
    const { message } = command;
    return `to worker ${command.worker}: ${message.type === "run" ? `run ${message.task.id}` : brief(message)}`;
  }
  return brief(command);
}

function brief(value: object): string {
  return JSON.stringify(value, (key, inner) =>
    key === "stats" || key === "stack" || key === "report" ? undefined : inner,
  ).slice(0, 160);
}
