/**
 * Serves the dashboard of one session from the caller's own process: live, or from the event file of a session that has
 * ended. A running session also has a process of its own for its dashboard (main.ts).
 */
import type { Server } from "node:net";
import { LOOPBACK, listenNear } from "../loopback/index.ts";
import { DashboardServer, StaticFiles } from "./http/index.ts";
import { feedFromFile, feedLive, type LiveSession, SessionModel } from "./model/index.ts";
import { webFiles } from "./web-files.ts";

interface ServeOptions {
  /** The directory with the session's logs and event file. */
  readonly directory: string;
  /** How to reach the running session; null when it has ended or was killed. */
  readonly live: Pick<LiveSession, "socketDirectory" | "token"> | null;
  /** The first port to try. */
  readonly port: number;
  /** Whoever presents the token may look. */
  readonly token: string;
}

interface Serving {
  /** The address with its token. */
  readonly url: string;
  close(): Promise<void>;
}

/** Resolves once the session has been read and the port is bound. */
export async function serveSession({ directory, live, port, token }: ServeOptions): Promise<Serving> {
  const model = new SessionModel();
  if (live === null) await feedFromFile(model, directory);
  const place = { logs: directory };
  const dashboard = new DashboardServer(model, { token, place, files: new StaticFiles(webFiles) });
  const bound = await listenNear(dashboard.server, port);
  dashboard.port = bound;
  const feed = live === null ? null : feedLive(model, { logs: directory, ...live }, () => dashboard.pages.update());
  if (feed !== null) dashboard.profile = feed.profile;
  return {
    url: `http://${LOOPBACK}:${bound}/?token=${token}`,
    async close() {
      feed?.close();
      dashboard.close();
      await closed(dashboard.server);
    },
  };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
