/** Sends answers with the headers that tell a browser to do nothing else with them. */
import type { IncomingMessage, ServerResponse } from "node:http";

export type Response = ServerResponse<IncomingMessage>;

/** A request asks for something that does not exist or is not allowed. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const SECURE: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

export function secure(response: Response): void {
  for (const [name, value] of Object.entries(SECURE)) response.setHeader(name, value);
  response.setHeader("cache-control", "no-store");
}

export function sendText(response: Response, text: string, type = "text/plain", status = 200): void {
  response.writeHead(status, { "content-type": `${type}; charset=utf-8`, "content-length": Buffer.byteLength(text) });
  response.end(text);
}

export function sendJson(response: Response, value: unknown, status = 200): void {
  sendText(response, JSON.stringify(value), "application/json", status);
}

export function sendRefusal(response: Response, { status, message }: Refusal): void {
  // The rest of a refused request is not read, so its connection cannot be used again.
  if (status !== 404) response.setHeader("connection", "close");
  sendText(response, `${message}\n`, "text/plain", status);
}
