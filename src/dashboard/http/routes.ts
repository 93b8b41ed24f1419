/** Which request gets which answer. Requests arrive here only after the token was checked. */
import { createReadStream, type ReadStream } from "node:fs";
import type { IncomingMessage } from "node:http";
import { basename } from "node:path";
import { pipeline } from "node:stream";
import { toWire } from "../../errors/index.ts";
import type { ProfileRequest } from "../api.ts";
import type { SessionMetrics } from "../metrics/index.ts";
import type { SessionModel } from "../model/index.ts";
import {
  type Board,
  blocksView,
  deathCards,
  isLog,
  logFiles,
  logText,
  openLog,
  operatorDetails,
  type Place,
  profileFiles,
  profilePath,
  readFlame,
  taskStream,
} from "../views/index.ts";
import type { Asked } from "./access.ts";
import { Refusal, type Response, sendJson, sendText } from "./answer.ts";
import { readBody } from "./body.ts";
import type { Pages } from "./pages.ts";
import type { SharedStream } from "./shared-stream.ts";
import type { StaticFiles } from "./static-files.ts";

const MOST_SECONDS = 600;

export interface Served {
  readonly model: SessionModel;
  readonly place: Place;
  readonly board: Board;
  readonly pages: Pages;
  readonly shared: SharedStream;
  readonly files: StaticFiles;
  /** Profiles a worker and resolves to the file's name. Undefined for a session that has ended. */
  profile?: (worker: number, seconds: number) => Promise<string>;
  /** Loaded with the first scrape. */
  metrics?: Promise<SessionMetrics>;
}

interface Call extends Asked {
  readonly request: IncomingMessage;
  readonly response: Response;
  /** The parts of the path that match the route's stars. */
  readonly names: readonly string[];
}

type Answer = (served: Served, call: Call) => unknown;

/** Sends a function's result as JSON, if it has one. */
const ROUTES: readonly (readonly [method: "GET" | "POST", path: string, answer: Answer])[] = [
  ["GET", "/metrics", sendMetrics],
  ["GET", "/api/stream", ({ pages }, { response }) => pages.open(response)],
  ["GET", "/api/tasks", sendTasks],
  [
    "GET",
    "/api/operators/*/*",
    ({ model }, { names: [job = "", operator = ""] }) => {
      return operatorDetails(model, job, operator) ?? missing(`operator ${operator} of a job ${job}`);
    },
  ],
  ["GET", "/api/blocks", ({ model }) => blocksView(model)],
  ["GET", "/api/deaths", async ({ model, place }) => deathCards(model, await profileFiles(place.logs))],
  ["GET", "/api/settings", ({ model }) => model.now.session?.settings ?? []],
  ["GET", "/api/logs", ({ place }) => logFiles(place.logs)],
  ["GET", "/api/logs/*", sendLog],
  ["GET", "/api/logs/*/download", downloadLog],
  ["GET", "/api/profiles", ({ place }) => profileFiles(place.logs)],
  ["GET", "/api/profiles/*", sendProfile],
  ["GET", "/api/profiles/*/flame", async (served, call) => readFlame(await pathOfProfile(served, call))],
  ["POST", "/api/profiles", makeProfile],
  ["GET", "/api/report", sendReport],
];

export async function route(served: Served, { path, query }: Asked, request: IncomingMessage, response: Response) {
  const method = request.method === "POST" ? "POST" : "GET";
  const names = path.split("/").map(decoded);
  for (const [of, pattern, answer] of ROUTES) {
    const found = of === method ? match(pattern.split("/"), names) : null;
    if (found === null) continue;
    const result = await answer(served, { path, query, request, response, names: found });
    if (result !== undefined) sendJson(response, result);
    return;
  }
  const isPage = method === "GET" && !path.startsWith("/api/");
  if (!isPage || !served.files.send(request, response, path)) missing(path);
}

function sendTasks({ model, shared }: Served, { query, response }: Call) {
  const range = timeRangeOf(model, query);
  if (!query.has("follows")) return taskStream(model, range);
  sendText(response, shared.following(range), "application/json");
}

function timeRangeOf(model: SessionModel, query: URLSearchParams) {
  const from = numberOf(query, "from") ?? 0;
  const to = numberOf(query, "to") ?? model.time;
  if (to < from) throw new Refusal(400, `to (${to}) is before from (${from}).`);
  return { from, to, width: numberOf(query, "width") ?? 1_000 };
}

async function sendMetrics(served: Served, { response }: Call) {
  served.metrics ??= import("../metrics/index.ts").then(({ SessionMetrics }) => new SessionMetrics(served.model));
  const metrics = await served.metrics;
  const text = await metrics.text();
  response.writeHead(200, { "content-type": metrics.contentType });
  response.end(text);
}

function sendLog({ place: { logs } }: Served, { names: [name = ""], query }: Call) {
  if (!isLog(logs, name)) return missing(`log ${name}`);
  return logText(logs, name, numberOf(query, "from"), query.get("find"));
}

function downloadLog({ place: { logs } }: Served, call: Call) {
  const [name = ""] = call.names;
  if (!isLog(logs, name)) return missing(`log ${name}`);
  sendFile(call, createReadStream("", { fd: openLog(logs, name) }), "text/plain; charset=utf-8", name);
}

async function pathOfProfile({ place }: Served, { names: [name = ""] }: Call): Promise<string> {
  return (await profilePath(place.logs, name)) ?? missing(`profile ${name}`);
}

async function sendProfile(served: Served, call: Call) {
  const path = await pathOfProfile(served, call);
  sendFile(call, createReadStream(path), "application/json", basename(path));
}

/** Answers once the profile is complete. */
async function makeProfile({ place, profile }: Served, { request }: Call) {
  const body = await readBody(request);
  if (!isProfileRequest(body)) {
    throw new Refusal(400, `Give the number of a worker, and from 1 to ${MOST_SECONDS} seconds.`);
  }
  if (profile === undefined) throw new Refusal(409, "The session has ended; its workers are gone.");
  // Nothing is sent while the worker is profiled, which may take minutes.
  request.socket.setTimeout(0);
  const name = await profile(body.worker, body.seconds).catch((error: unknown) => {
    throw new Refusal(409, toWire(error).message);
  });
  const files = await profileFiles(place.logs);
  return files.find((file) => file.name === name) ?? missing(`profile ${name}`);
}

function isProfileRequest(body: unknown): body is ProfileRequest {
  if (typeof body !== "object" || body === null || !("worker" in body) || !("seconds" in body)) return false;
  const { worker, seconds } = body;
  return Number.isInteger(worker) && typeof seconds === "number" && seconds >= 1 && seconds <= MOST_SECONDS;
}

async function sendReport({ model, place }: Served, { response }: Call) {
  const { reportText } = await import("../../report/index.ts");
  const name = model.now.session?.session ?? basename(place.logs);
  const text = reportText(place.logs, { name, status: model.status, now: new Date() });
  // The report contains its styles and has no scripts.
  response.setHeader("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  response.setHeader("content-disposition", `attachment; filename="spillway-${basename(place.logs)}.html"`);
  sendText(response, text, "text/html");
}

function sendFile({ request, response }: Call, stream: ReadStream, type: string, name: string): void {
  response.setHeader("content-type", type);
  response.setHeader("content-disposition", `attachment; filename="${name}"`);
  if (request.method !== "HEAD") pipeline(stream, response, () => {});
  else {
    stream.destroy();
    response.end();
  }
}

/** Null when the parameter is absent. */
function numberOf(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (text === null || text === "") return null;
  const number = Number(text);
  if (!Number.isFinite(number) || number < 0) throw new Refusal(400, `${name} must be a number of at least 0.`);
  return number;
}

function missing(what: string): never {
  throw new Refusal(404, `There is no ${what}.`);
}

function match(pattern: readonly string[], names: readonly string[]): readonly string[] | null {
  if (pattern.length !== names.length) return null;
  if (!pattern.every((part, at) => part === "*" || part === names[at])) return null;
  return names.filter((_, at) => pattern[at] === "*");
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Refusal(400, "The path has a % that does not begin a character code.");
  }
}
