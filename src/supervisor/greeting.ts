/**
 * A connection that has not said who it is: the program, a worker or an observer, each by its first message, or nobody
 * we know.
 */
import { timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";
import type { ObserverMessage, ToObserver } from "../events/index.ts";
import {
  type Milliseconds,
  type ProgramMessage,
  type ToProgram,
  type ToWorker,
  Wire,
  type WorkerMessage,
} from "../protocol/index.ts";

export type AnyWire = Wire<ProgramMessage | WorkerMessage | ObserverMessage, ToProgram | ToWorker | ToObserver>;
export type Greeting =
  | Extract<ProgramMessage, { type: "hello" }>
  | Extract<WorkerMessage, { type: "ready" }>
  | ObserverMessage;

/** Longer than this, and it will not say. */
const TIMEOUT: Milliseconds = 10_000;

/**
 * `admit` says whether it is one of ours; from then on the connection speaks the program's, the worker's or the
 * observer's part of the protocol.
 */
export function greet(socket: Socket, admit: (greeting: Greeting, wire: AnyWire) => boolean): void {
  const wire: AnyWire = new Wire(socket);
  const timer = setTimeout(() => socket.destroy(), TIMEOUT);
  wire.onClose(() => clearTimeout(timer));
  wire.onMessage((message) => {
    clearTimeout(timer);
    const isGreeting = message.type === "hello" || message.type === "ready" || message.type === "observe";
    const isOurs = isGreeting && admit(message, wire);
    if (isOurs) return;
    process.stderr.write(`A connection that began with "${message.type}" was refused.\n`);
    wire.close();
  });
}

/** Takes as long for a good guess as for a bad one. */
export function isToken(shown: unknown, token: string): boolean {
  const [guess, right] = [Buffer.from(String(shown)), Buffer.from(token)];
  return guess.length === right.length && timingSafeEqual(guess, right);
}
