/**
 * The dashboard as the supervisor knows it: a port, and a process that gets its connections. The process starts with
 * the first connection and ends when nobody has looked for a while. The listening socket stays here, so the port is
 * kept however the process ends (docs/decisions/0020-the-dashboards-port-stays.md). Connections are not read here: they
 * wait in the system until the process reads them.
 *
 *   none ──connection──▶ running ──idle, end, crash──▶ none
 */
import { type ChildProcess, fork } from "node:child_process";
import { createServer, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { toWire } from "../errors/index.ts";
import { LOOPBACK, listenNear } from "../loopback/index.ts";
import type { FromDashboard, Milliseconds, ToDashboard } from "../protocol/index.ts";
import { ProcessLog } from "./worker-log.ts";
import { preferForOomKiller } from "./worker-process.ts";

interface DashboardOptions {
  /** The first port to try. */
  readonly port: number;
  readonly session: string;
  /** The session's directory with its socket, and the session's token. */
  readonly socketDirectory: string;
  readonly token: string;
  readonly dashboardToken: string;
  readonly stateDirectory: string;
}

export const USUAL_PORT = 8787;
/** The process ends after this long without an open page. Tests set a shorter time. */
const IDLE: Milliseconds = Number(process.env.SPILLWAY_TEST_DASHBOARD_IDLE ?? 60_000);
/** At the session's end, the process gets this long to tell the pages; then it is killed. */
const END_GRACE: Milliseconds = 1_000;

export class DashboardPort {
  readonly #options: DashboardOptions;
  #server: Server | null = null;
  #port: number | null = null;
  #child: ChildProcess | null = null;
  /** Running processes. One that is ending may overlap with the next one. */
  readonly #children = new Set<ChildProcess>();
  /**
   * Connections that were sent to a process and are not taken yet. They stay open here until then: if the process died
   * meanwhile, the channel would leave them open for ever.
   */
  readonly #underWay = new Map<number, { readonly socket: Socket; readonly child: ChildProcess }>();
  #lastConnection = 0;
  #isClosed = false;

  constructor(options: DashboardOptions) {
    this.#options = options;
  }

  /** Binds a port. Resolves with an error message if no port is available; the session works without a dashboard. */
  async open(): Promise<string | null> {
    const server = createServer({ pauseOnConnect: true }, (socket) => this.#handOver(socket));
    try {
      this.#port = await listenNear(server, this.#options.port);
    } catch (error) {
      return toWire(error).message;
    }
    // For example, no descriptors are left: the connection waits, and the session goes on.
    server.on("error", (error) => process.stderr.write(`The dashboard's port: ${error.message}\n`));
    this.#server = server;
    return null;
  }

  /** The address with its token; null without a port. */
  get url(): string | null {
    return this.#port === null ? null : `http://${LOOPBACK}:${this.#port}/?token=${this.#options.dashboardToken}`;
  }

  get pids(): readonly number[] {
    return [...this.#children].flatMap(({ pid }) => pid ?? []);
  }

  /** Stops taking connections. */
  stop(): void {
    this.#isClosed = true;
    this.#server?.close();
  }

  /** The session has ended: the pages are told, and the process ends. */
  async close(): Promise<void> {
    this.stop();
    const ends = [...this.#children].map((child) => {
      tell(child, { type: "end" });
      const timer = setTimeout(() => child.kill("SIGKILL"), END_GRACE);
      return new Promise<void>((resolve) => child.once("exit", () => resolve())).finally(() => clearTimeout(timer));
    });
    await Promise.all(ends);
  }

  #handOver(socket: Socket): void {
    // The browser may have left before the process gets the connection.
    socket.on("error", () => socket.destroy());
    const child = this.#isClosed ? null : this.#running();
    if (child?.connected !== true) {
      socket.destroy();
      return;
    }
    this.#lastConnection += 1;
    const id = this.#lastConnection;
    this.#underWay.set(id, { socket, child });
    const message: ToDashboard = { type: "connection", id };
    child.send(message, socket, { keepOpen: true }, (error) => {
      if (error !== null) this.#letGo(id);
    });
  }

  /** Closes the connection in this process. If no process has taken it, the browser notices, and can connect again. */
  #letGo(id: number): void {
    this.#underWay.get(id)?.socket.destroy();
    this.#underWay.delete(id);
  }

  #running(): ChildProcess | null {
    this.#child ??= this.#start();
    return this.#child;
  }

  #start(): ChildProcess | null {
    const { stateDirectory: logs, session, ...hello } = this.#options;
    const log = ProcessLog.ofDashboard(logs);
    const output = log?.fd ?? "ignore";
    const child = fork(dashboardProgram(), [session], { stdio: ["ignore", output, output, "ipc"] });
    log?.close();
    child.on("message", (message: FromDashboard) => {
      if (message.type === "taken") this.#letGo(message.id);
      if (message.type !== "idle" || this.#child !== child) return;
      // From now on a connection starts another process, so that none is lost between the two.
      this.#child = null;
      tell(child, { type: "leave" });
    });
    const gone = () => {
      this.#children.delete(child);
      if (this.#child === child) this.#child = null;
      for (const [id, { child: to }] of this.#underWay) if (to === child) this.#letGo(id);
    };
    child.once("exit", gone);
    child.on("error", (error) => {
      process.stderr.write(`The dashboard's process: ${error.message}\n`);
      if (child.pid === undefined) gone();
    });
    if (child.pid === undefined) return null;
    this.#children.add(child);
    preferForOomKiller(child.pid);
    tell(child, { type: "session", ...hello, session, logs, port: this.#port ?? 0, idle: IDLE });
    return child;
  }
}

/** A process that has just ended cannot receive messages; its exit is handled elsewhere. */
function tell(child: ChildProcess, message: ToDashboard): void {
  if (child.connected) child.send(message, () => {});
}

/** The program is in the next folder: a .cjs file, which starts faster than a .js file, or a .ts file from source. */
function dashboardProgram(): string {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "cjs";
  return fileURLToPath(new URL(`../dashboard/main.${extension}`, import.meta.url));
}
