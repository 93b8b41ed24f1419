/**
 * Tells the session's supervisor that an on-demand profile has begun, and later where its file is. The thread uses a
 * connection of its own, because the main thread's connection is silent while a function runs.
 */
import { basename } from "node:path";
import { connectInside } from "../files/index.ts";
import { type ProfilerMessage, SOCKET, Wire } from "../protocol/index.ts";
import type { ThreadPlace } from "./snapshot.ts";

export class Answers {
  readonly #wires = new Map<number, Wire<never, ProfilerMessage>>();

  constructor(private readonly place: ThreadPlace) {}

  begun(request: number): void {
    const { sessionDirectory, worker, token } = this.place;
    const socket = connectInside(sessionDirectory, SOCKET);
    const wire = new Wire<never, ProfilerMessage>(socket);
    // The supervisor sends nothing here, but only a socket that is read reports that the other end has closed.
    wire.onMessage(() => {});
    socket.once("connect", () => wire.send({ type: "profiler", worker, token, request }));
    wire.onClose(() => this.#wires.delete(request));
    this.#wires.set(request, wire);
  }

  done(request: number, file: string, problem: string | null): void {
    const wire = this.#wires.get(request);
    wire?.send({ type: "profiled", request, file: basename(file), problem });
    wire?.close();
  }
}
