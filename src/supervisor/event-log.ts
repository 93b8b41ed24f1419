/** `events.jsonl` among the session's logs: a line of JSON for each event, for whoever watches; bounded. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "../files/index.ts";
import type { Bytes, TimedEvent } from "../protocol/index.ts";

export const EVENTS_FILE = "events.jsonl";
const LIMIT: Bytes = 10 * 2 ** 20;

export class EventLog {
  readonly #directory: string;
  readonly #limit: Bytes;
  #written: Bytes = 0;

  constructor(directory: string, limit: Bytes = LIMIT) {
    this.#directory = directory;
    this.#limit = limit;
  }

  write(event: TimedEvent): void {
    if (this.#written >= this.#limit) return;
    const line = `${JSON.stringify(event)}\n`;
    this.#written += Buffer.byteLength(line);
    const isFull = this.#written >= this.#limit;
    const last = {
      at: event.at,
      type: "full",
      text: `This file has ${this.#limit} bytes; later events are not in it.`,
    };
    this.#append(isFull ? `${JSON.stringify(last)}\n` : line);
  }

  /** Logs may be cleared away, or their disk be full: no reason to end the session. */
  #append(text: string): void {
    try {
      makeDirectory(this.#directory, 0o700);
      appendFileSync(join(this.#directory, EVENTS_FILE), text, { mode: 0o600 });
    } catch (error) {
      process.stderr.write(`${(error as Error).message}\n`);
    }
  }
}
