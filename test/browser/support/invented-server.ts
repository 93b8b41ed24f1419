/** Serves the built pages, with the strict policy of the real server, over an invented session. */
import { readFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { NOW, patchAfter, snapshotOf, WORLD, type World } from "./invented.ts";
import {
  blocksView,
  deathsView,
  flameView,
  logFiles,
  logText,
  logView,
  operatorView,
  profileFiles,
  settingRows,
  tasksView,
} from "./invented-views.ts";

const PAGES = fileURLToPath(new URL("../../../dist/dashboard/web", import.meta.url));
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

export interface Invented {
  readonly address: string;
  /** Ends the streams that are open, and refuses new ones until it is called with false. */
  cut(isCut: boolean): void;
  /** As if they had just happened. */
  tell(lines: number): void;
  readonly posts: readonly string[];
  close(): Promise<void>;
}

/** `every`: milliseconds between patches; 0: there are none. `lines`: of what happened, in each patch. */
export async function serveInvented(parts: Partial<World> = {}, every = 0, lines = 0): Promise<Invented> {
  const world = { ...WORLD, ...parts };
  const streams = new Set<ServerResponse>();
  const posts: string[] = [];
  let isCut = false;
  let passed = 0;
  const tell = (many: number) => {
    const text = `event: patch\ndata: ${JSON.stringify(patchAfter(world, passed, many))}\n\n`;
    for (const stream of streams) stream.write(text);
  };
  const timer =
    every === 0
      ? null
      : setInterval(() => {
          passed += every;
          tell(lines);
        }, every);

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    if (isCut) {
      response.destroy();
      return;
    }
    if (pathname === "/api/stream") {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      response.write(`retry: 200\nevent: snapshot\ndata: ${JSON.stringify(snapshotOf(world))}\n\n`);
      streams.add(response);
      response.on("close", () => streams.delete(response));
      return;
    }
    if (request.method === "POST") {
      request.on("data", (body) => posts.push(String(body)));
      json(response, profileFiles(world)[0]);
      return;
    }
    if (pathname.startsWith("/api/")) return answer(world, pathname, searchParams, NOW + passed, response);
    page(pathname, response);
  });
  const address = await listen(server);
  return {
    address,
    posts,
    tell,
    cut(next) {
      isCut = next;
      if (next) for (const stream of streams) stream.destroy();
    },
    async close() {
      if (timer !== null) clearInterval(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const bound = server.address();
      resolve(`http://127.0.0.1:${typeof bound === "object" && bound !== null ? bound.port : 0}/`);
    });
  });
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function answer(world: World, path: string, query: URLSearchParams, now: number, response: ServerResponse): void {
  const [, , room = "", name = "", last = ""] = path.split("/").map(decodeURIComponent);
  if (room === "logs" && last === "download") {
    response.writeHead(200, { "content-type": "text/plain", "content-disposition": `attachment; filename="${name}"` });
    response.end(logText(world, name));
    return;
  }
  const found = viewOf(world, room, name, last, query, now);
  if (found !== undefined) json(response, found);
  else response.writeHead(404, { "content-type": "text/plain" }).end(`there is no ${path}`);
}

function viewOf(world: World, room: string, name: string, last: string, query: URLSearchParams, now: number): unknown {
  const number = (of: string) => Number(query.get(of) ?? 0);
  if (room === "tasks") return tasksView(world, number("from"), number("to"), number("width"), now);
  if (room === "operators") return operatorView(world, Number(last));
  if (room === "blocks") return blocksView(world);
  if (room === "deaths") return deathsView(world);
  if (room === "settings") return settingRows(world);
  if (room === "logs") return name === "" ? logFiles() : logView(world, name, number("from"), query.get("find"));
  if (room === "profiles") return last === "flame" ? flameView(world) : profileFiles(world);
  return undefined;
}

function page(path: string, response: ServerResponse): void {
  const file = path === "/" ? "/index.html" : path;
  try {
    const text = readFileSync(join(PAGES, file));
    response
      .writeHead(200, { "content-type": TYPES[extname(file)] ?? "text/plain", "content-security-policy": POLICY })
      .end(text);
  } catch {
    response.writeHead(404, { "content-type": "text/plain" }).end("no such file");
  }
}
