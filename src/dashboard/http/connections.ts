/**
 * Bounds the number of connections, and how long a connection may stay open without a request. Node's own limits apply
 * only to a server that listens itself; this server is handed its connections.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Milliseconds } from "../../protocol/index.ts";

const MOST = 256;
/** Time for the headers of the first request, or until the next request. */
const PATIENCE: Milliseconds = 10_000;
const LOOK: Milliseconds = 1_000;

interface Connection {
  /** Requests that wait for their answer. */
  asking: number;
  /** Start of the time without a request. */
  since: Milliseconds;
}

export class Connections {
  readonly #all = new Map<Socket, Connection>();
  readonly #timer: NodeJS.Timeout;
  #emptySince: Milliseconds = performance.now();

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => this.#opened(socket));
    server.on("request", (request: IncomingMessage, response: ServerResponse) => this.#asks(request, response));
    this.#timer = setInterval(() => this.#look(), LOOK).unref();
  }

  /** How long there has been no connection; 0 while there is one. */
  get idleFor(): Milliseconds {
    return this.#all.size > 0 ? 0 : performance.now() - this.#emptySince;
  }

  close(): void {
    clearInterval(this.#timer);
    for (const socket of this.#all.keys()) socket.destroy();
  }

  #opened(socket: Socket): void {
    if (this.#all.size >= MOST) {
      socket.destroy();
      return;
    }
    this.#all.set(socket, { asking: 0, since: performance.now() });
    socket.once("close", () => {
      this.#all.delete(socket);
      this.#emptySince = performance.now();
    });
  }

  #asks({ socket }: IncomingMessage, response: ServerResponse): void {
    const connection = this.#all.get(socket);
    if (connection === undefined) return;
    connection.asking += 1;
    response.once("close", () => {
      connection.asking -= 1;
      connection.since = performance.now();
    });
  }

  #look(): void {
    const latest = performance.now() - PATIENCE;
    for (const [socket, { asking, since }] of this.#all) if (asking === 0 && since < latest) socket.destroy();
  }
}
