#!/usr/bin/env node
/**
 * The process of a running session's dashboard. The supervisor starts it with the first connection, hands it every
 * connection, and hears from it when nobody has looked for a while. It ends with the supervisor. argv[2] is the
 * session's name, for people who list processes.
 */
import type { Socket } from "node:net";
import { setPriority } from "node:os";
import { setFlagsFromString } from "node:v8";
import type { FromDashboard, Milliseconds, ToDashboard } from "../protocol/index.ts";
import { DashboardServer, StaticFiles } from "./http/index.ts";
import { feedLive, SessionModel } from "./model/index.ts";
import { webFiles } from "./web-files.ts";

/** The `nice` value: the session's own work goes first. */
const PRIORITY = 10;
/** How long to wait for the session's last events: they may arrive just after the order to end. */
const LAST_EVENTS: Milliseconds = 250;
/** Time for the last patch to be sent. */
const LAST_PATCH: Milliseconds = 50;

if (process.send === undefined) {
  process.stderr.write("A dashboard is started by a session, not by hand: run spillway dashboard.\n");
  process.exit(2);
}
process.on("SIGINT", () => {});
process.on("SIGHUP", () => {});
// The supervisor has ended; it may have been killed.
process.on("disconnect", () => void end());
setPriority(PRIORITY);
// Else V8 lets the heap grow to four times of what is in use before it looks for garbage.
setFlagsFromString("--heap-growing-percent=50");

let server: DashboardServer | null = null;
const model = new SessionModel();

process.on("message", (message: ToDashboard, handle: Socket | undefined) => {
  switch (message.type) {
    case "session":
      server = begin(message);
      return;
    case "connection":
      tell({ type: "taken", id: message.id });
      if (handle !== undefined) server?.take(handle);
      return;
    case "leave":
      leaveWhenEmpty();
      return;
    case "end":
      void end();
      return;
  }
});

function begin(session: Extract<ToDashboard, { type: "session" }>): DashboardServer {
  const { logs, socketDirectory, token, dashboardToken, port, idle } = session;
  const begun = new DashboardServer(model, {
    token: dashboardToken,
    place: { logs },
    files: new StaticFiles(webFiles),
  });
  begun.port = port;
  const feed = feedLive(model, { logs, socketDirectory, token }, () => begun.pages.update());
  begun.profile = feed.profile;
  const timer = setInterval(
    () => {
      if (begun.connections.idleFor < idle) return;
      clearInterval(timer);
      tell({ type: "idle" });
    },
    Math.min(idle, 1_000),
  );
  return begun;
}

/** A connection that arrived at the last moment is served to its end. */
function leaveWhenEmpty(): void {
  setInterval(() => {
    if (server === null || server.connections.idleFor > 0) process.exit();
  }, 100);
}

/** Tells the pages, then ends the process a moment later. */
async function end(): Promise<void> {
  for (let waited = 0; model.status === "running" && waited < LAST_EVENTS; waited += 10) await pause(10);
  server?.pages.close();
  await pause(LAST_PATCH);
  process.exit();
}

function pause(time: Milliseconds): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, time));
}

function tell(message: FromDashboard): void {
  process.send?.(message);
}
