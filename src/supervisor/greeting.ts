/** A new connection: its first message says whether it is the program, a worker or an observer. Others are refused. */
import { timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";
import type { ObserverMessage, ToObserver } from "../events/index.ts";
import {
  type Milliseconds,
  type ProfilerMessage,
  type ProgramMessage,
  type ToProgram,
  type ToWorker,
  Wire,
  type WorkerMessage,
} from "../protocol/index.ts";

export type AnyWire = Wire<
  ProgramMessage | WorkerMessage | ObserverMessage | ProfilerMessage,
  ToProgram | ToWorker | ToObserver
>;
export type Greeting =
  | Extract<ProgramMessage, { type: "hello" }>
  | Extract<WorkerMessage, { type: "ready" }>
  | Extract<ProfilerMessage, { type: "profiler" }>
  | Extract<ObserverMessage, { type: "observe" }>;

/** A connection that says nothing for this long is closed. */
const TIMEOUT: Milliseconds = 10_000;

/**
 * `admit` decides whether the connection is accepted; from then on it speaks the protocol of the program, of a worker
 * or of an observer.
 */
export function greet(socket: Socket, admit: (greeting: Greeting, wire: AnyWire) => boolean): void {
  const wire: AnyWire = new Wire(socket);
  const timer = setTimeout(() => socket.destroy(), TIMEOUT);
  wire.onClose(() => clearTimeout(timer));
  wire.onMessage((message) => {
    clearTimeout(timer);
    const isOurs = isGreeting(message) && admit(message, wire);
    if (isOurs) return;
    process.stderr.write(`A connection that began with "${message.type}" was refused.\n`);
    wire.close();
  });
}

function isGreeting(message: { readonly type: string }): message is Greeting {
  return ["hello", "ready", "observe", "profiler"].includes(message.type);
}

/** Takes the same time for right and wrong tokens. */
export function isToken(shown: unknown, token: string): boolean {
  const [guess, right] = [Buffer.from(String(shown)), Buffer.from(token)];
  return guess.length === right.length && timingSafeEqual(guess, right);
}
