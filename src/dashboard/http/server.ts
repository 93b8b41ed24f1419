/** The dashboard's HTTP server. It listens itself, or takes connections that another process accepted. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import { toWire } from "../../errors/index.ts";
import type { Bytes, Milliseconds } from "../../protocol/index.ts";
import type { SessionModel } from "../model/index.ts";
import { Board, type Place } from "../views/index.ts";
import { asked, Gate } from "./access.ts";
import { Refusal, type Response, secure, sendJson, sendRefusal } from "./answer.ts";
import { Connections } from "./connections.ts";
import { Pages } from "./pages.ts";
import { route, type Served } from "./routes.ts";
import { SharedStream } from "./shared-stream.ts";
import type { StaticFiles } from "./static-files.ts";

const MOST_HEADERS: Bytes = 16 * 1024;
/** A connection that is silent for this long is closed. Pages get a heartbeat more often. */
const SILENCE: Milliseconds = 30_000;
const KEEP_ALIVE: Milliseconds = 5_000;

interface DashboardOptions {
  readonly token: string;
  readonly place: Place;
  readonly files: StaticFiles;
}

export class DashboardServer {
  readonly server: Server;
  readonly pages: Pages;
  readonly connections: Connections;
  readonly #gate: Gate;
  readonly #served: Served;

  constructor(model: SessionModel, { token, place, files }: DashboardOptions) {
    const board = new Board(model, place);
    this.pages = new Pages(board);
    this.#gate = new Gate(token);
    this.#served = { model, place, board, pages: this.pages, shared: new SharedStream(model), files };
    this.server = createServer({ maxHeaderSize: MOST_HEADERS, keepAliveTimeout: KEEP_ALIVE }, (request, response) => {
      void this.#answer(request, response);
    });
    this.server.timeout = SILENCE;
    this.connections = new Connections(this.server);
  }

  /** The port that the cookie's name carries. */
  set port(port: number) {
    this.#gate.port = port;
  }

  /** Takes a connection that another process accepted. */
  take(socket: Socket): void {
    this.server.emit("connection", socket);
    socket.resume();
  }

  /** Set only while the session runs. */
  set profile(profile: NonNullable<Served["profile"]>) {
    this.#served.profile = profile;
  }

  close(): void {
    this.pages.close();
    this.connections.close();
  }

  async #answer(request: IncomingMessage, response: Response): Promise<void> {
    // Broken connections are normal: a page was closed.
    response.on("error", () => {});
    secure(response);
    try {
      const wanted = asked(request);
      if (wanted.path === "/health" && request.method !== "POST") {
        sendHealth(response, this.#served.model);
        return;
      }
      const location = this.#gate.admit(request, wanted);
      if (location === null) await route(this.#served, wanted, request, response);
      else response.writeHead(303, { location, "set-cookie": this.#gate.setCookie }).end();
    } catch (error) {
      this.#failed(response, error);
    }
  }

  #failed(response: Response, error: unknown): void {
    if (!(error instanceof Refusal)) process.stderr.write(`${toWire(error).stack ?? toWire(error).message}\n`);
    if (response.headersSent) response.destroy();
    else
      sendRefusal(
        response,
        error instanceof Refusal
          ? error
          : new Refusal(500, "The request failed. dashboard.log, among the session's logs, says why."),
      );
  }
}

/** Needs no token, so it says nothing about what the session does. */
function sendHealth(response: Response, { status }: SessionModel): void {
  sendJson(response, { status }, status === "killed" ? 503 : 200);
}
