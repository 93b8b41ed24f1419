/**
 * Decides who may see the dashboard: whoever has the token. A link carries the token once; after that, the browser
 * sends a cookie. Everybody on the machine can connect to the port, and the token keeps them out. Every web page can
 * make a browser send requests to the port, and the checks of Host and Origin keep these out.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Refusal } from "./answer.ts";

/**
 * Any port is allowed, because users forward it. Any other name could belong to a web page that pointed it at this
 * machine.
 */
const HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;
/** A path must not begin with two slashes: a redirect would take it for the name of another machine. */
const PATH = /^\/(?!\/)[\w.~%@:,+=/!'()*-]*$/;
const BEARER = /^Bearer +(\S+)$/i;

export interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Returns what the request asks for. Refuses a request whose Host is not this machine. */
export function asked({ method, url = "", headers }: IncomingMessage): Asked {
  if (!HOST.test(headers.host ?? "")) {
    throw new Refusal(421, "This dashboard answers to 127.0.0.1 and localhost, at any port, and to no other name.");
  }
  if (method !== "GET" && method !== "HEAD" && method !== "POST") throw new Refusal(405, `${method} is not allowed.`);
  const mark = url.indexOf("?");
  const path = mark === -1 ? url : url.slice(0, mark);
  if (!PATH.test(path)) throw new Refusal(400, "The path has characters that are not allowed in a path.");
  const query = new URLSearchParams(mark === -1 ? "" : url.slice(mark));
  if (method === "POST") checkOrigin(headers);
  return { path, query };
}

/** Keeps forms and scripts of other pages from changing anything. Only browsers send these two headers. */
function checkOrigin(headers: IncomingMessage["headers"]): void {
  const { origin, host = "" } = headers;
  const site = headers["sec-fetch-site"];
  const isOurs = origin === undefined || origin === `http://${host}`;
  if (!isOurs || (site !== undefined && site !== "same-origin")) {
    throw new Refusal(403, "The request comes from a page that is not part of this dashboard.");
  }
  if (!/^application\/json\b/i.test(headers["content-type"] ?? "")) {
    throw new Refusal(415, "Send JSON, with the content type application/json.");
  }
}

export class Gate {
  readonly #token: string;
  /** The cookie's name carries the port, because browsers send cookies to all ports of a host. */
  port = 0;

  constructor(token: string) {
    this.#token = token;
  }

  /**
   * Throws unless the request carries the token or the cookie. Returns where to redirect a link that carries the token,
   * otherwise null.
   */
  admit({ headers, method }: IncomingMessage, { path, query }: Asked): string | null {
    const bearer = BEARER.exec(headers.authorization ?? "")?.[1];
    if (bearer !== undefined && this.#isToken(bearer)) return null;
    const shown = query.get("token");
    if (shown !== null) {
      if (!this.#isToken(shown)) throw refused("The token in the address is not this session's.");
      return method === "POST" || path === "/metrics" ? null : withoutToken(path, query);
    }
    if (this.#cookies(headers.cookie ?? "").some((cookie) => this.#isToken(cookie))) return null;
    throw refused(
      bearer === undefined ? "A token is missing." : "The token in the Authorization header is not this session's.",
    );
  }

  /** The cookie that the page uses from then on. */
  get setCookie(): string {
    return `${this.#name}=${this.#token}; HttpOnly; SameSite=Strict; Path=/`;
  }

  get #name(): string {
    return `spillway-${this.port}`;
  }

  #cookies(header: string): readonly string[] {
    return header.split(";").flatMap((part) => {
      const [name = "", value = ""] = part.trim().split("=");
      return name === this.#name ? [value] : [];
    });
  }

  /** Takes equally long for right and wrong tokens of any length, so timing reveals nothing. */
  #isToken(shown: string): boolean {
    return timingSafeEqual(digest(shown), digest(this.#token));
  }
}

function refused(why: string): Refusal {
  return new Refusal(
    401,
    `${why} Open the link that the session printed (session.dashboardUrl), or run: spillway dashboard`,
  );
}

function withoutToken(path: string, query: URLSearchParams): string {
  const others = new URLSearchParams(query);
  others.delete("token");
  return others.size === 0 ? path : `${path}?${others}`;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
