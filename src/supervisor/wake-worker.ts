/**
 * Evaluates an expression in a worker that is busy inside a function and so reads no messages. SIGUSR1 makes Node's
 * signal thread open the inspector, which interrupts the function. The inspector's address has a random part, printed
 * only to the worker's log, which only this user can read. The inspector refuses everybody else.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ClientRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { SpillwayError } from "../errors/index.ts";
import type { Milliseconds } from "../protocol/index.ts";

/** Any port will do, because the log says which one it is. A user's `--inspect` comes later and wins. */
export const QUIET_INSPECTOR = ["--inspect-port=127.0.0.1:0", "--inspect-publish-uid=stderr"];
const ANNOUNCED = /^Debugger listening on ws:\/\/([^\s/]+):(\d+)(\/\S+)$/gm;
const LOOK: Milliseconds = 25;
/** The signal thread needs a millisecond, but on a busy machine it waits for its turn. */
const PATIENCE: Milliseconds = 10_000;
const TEXT_FRAME = 0x81;
const MASKED = 0x80;
/** The length follows in two bytes. */
const LONG = 126;

interface Address {
  readonly host: string;
  readonly port: number;
  readonly path: string;
}

/** `expressionFor` learns whether this call opened the inspector, so that the expression can close it again. */
export async function evaluateIn(
  pid: number,
  log: string,
  expressionFor: (opened: boolean) => string,
): Promise<unknown> {
  const before = addressesIn(log);
  const last = before.at(-1);
  // While the function runs, an inspector that an earlier call opened is still open.
  if (last !== undefined && (await isOpen(last))) return evaluateAt(last, expressionFor(false));
  process.kill(pid, "SIGUSR1");
  let found = addressesIn(log);
  for (let waited = 0; found.length === before.length && waited < PATIENCE; waited += LOOK) {
    await new Promise((resolve) => setTimeout(resolve, LOOK));
    found = addressesIn(log);
  }
  const address = found.at(-1);
  if (address === undefined) {
    throw new SpillwayError(`process ${pid} did not open its inspector within ${PATIENCE / 1000} s of a SIGUSR1`);
  }
  return evaluateAt(address, expressionFor(found.length > before.length));
}

function addressesIn(log: string): readonly Address[] {
  const text = readFileSync(log, "utf8");
  return [...text.matchAll(ANNOUNCED)].map(([, host = "", port = "", path = ""]) => ({
    host,
    port: Number(port),
    path,
  }));
}

async function evaluateAt({ host, port, path }: Address, expression: string): Promise<unknown> {
  // Loading it takes milliseconds, and few sessions are profiled.
  const { request } = await import("node:http");
  const asking = request({
    host,
    port,
    path,
    headers: {
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
    },
  });
  const socket = await upgraded(asking);
  try {
    const params = { expression, returnByValue: true };
    socket.write(frameOf(JSON.stringify({ id: 1, method: "Runtime.evaluate", params })));
    return valueIn(await firstMessage(socket));
  } finally {
    socket.destroy();
  }
}

function upgraded(asking: ClientRequest): Promise<Socket> {
  return new Promise((resolve, reject) => {
    asking.once("upgrade", (_, socket: Socket) => resolve(socket));
    asking.once("response", ({ statusCode }) => {
      asking.destroy();
      reject(new SpillwayError(`the inspector refused the connection with status ${statusCode}`));
    });
    asking.once("error", reject);
    asking.end();
  });
}

function isOpen({ host, port }: Address): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** Clients must mask the text that they send. */
function frameOf(text: string): Buffer {
  const body = Buffer.from(text);
  const mask = randomBytes(4);
  for (let i = 0; i < body.length; i++) body[i] = (body[i] ?? 0) ^ (mask[i % 4] ?? 0);
  const head = Buffer.from([TEXT_FRAME, MASKED | LONG, body.length >> 8, body.length & 0xff]);
  return Buffer.concat([head, mask, body]);
}

async function firstMessage(socket: Socket): Promise<string> {
  let received: Buffer = Buffer.alloc(0);
  for await (const piece of socket) {
    received = Buffer.concat([received, piece]);
    if (received.length < 4) continue;
    const short = received.readUInt8(1);
    const [start, length] = short === LONG ? [4, received.readUInt16BE(2)] : [2, short];
    if (received.length >= start + length) return received.toString("utf8", start, start + length);
  }
  throw new SpillwayError("the inspector closed the connection without an answer");
}

function valueIn(message: string): unknown {
  const { result, error }: { result?: { result?: { value?: unknown }; exceptionDetails?: object }; error?: object } =
    JSON.parse(message);
  if (error !== undefined || result?.exceptionDetails !== undefined) {
    throw new SpillwayError(`the inspector answered ${message.slice(0, 500)}`);
  }
  return result?.result?.value;
}
