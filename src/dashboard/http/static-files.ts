/**
 * The files of the pages. They are listed once and every request is looked up in the list, so no path leads outside.
 * File names below `assets/` contain a hash of the content, so browsers may keep those files for good.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { extname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import type { Response } from "./answer.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".woff2": "font/woff2",
  ".png": "image/png",
  ".ico": "image/x-icon",
};
const INDEX = "/index.html";
/** Compression does not make smaller files smaller. */
const WORTH_PACKING = 1_024;

interface StaticFile {
  readonly type: string;
  readonly body: Buffer;
  readonly packed: Buffer | null;
  readonly tag: string;
  readonly isHashed: boolean;
}

export class StaticFiles {
  readonly #root: string;
  readonly #paths: ReadonlySet<string>;
  readonly #files = new Map<string, StaticFile>();

  constructor(root: string) {
    this.#root = root;
    this.#paths = new Set(listed(root));
  }

  send(request: IncomingMessage, response: Response, path: string): boolean {
    const found = path === "/" ? INDEX : path;
    if (!this.#paths.has(found)) return false;
    const { type, body, packed, tag, isHashed } = this.#file(found);
    response.setHeader("content-type", type);
    response.setHeader("etag", tag);
    response.setHeader("vary", "accept-encoding");
    response.setHeader("cache-control", isHashed ? "private, max-age=31536000, immutable" : "no-cache");
    if (request.headers["if-none-match"] === tag) {
      response.writeHead(304).end();
      return true;
    }
    const isPacked = packed !== null && /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
    if (isPacked) response.setHeader("content-encoding", "gzip");
    const sent = isPacked ? packed : body;
    response.setHeader("content-length", sent.length);
    response.end(request.method === "HEAD" ? undefined : sent);
    return true;
  }

  #file(path: string): StaticFile {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const body = readFileSync(join(this.#root, path));
    const type = TYPES[extname(path)] ?? "application/octet-stream";
    const isText = /text|json|svg/.test(type);
    const file = {
      type,
      body,
      packed: isText && body.length >= WORTH_PACKING ? gzipSync(body) : null,
      tag: `"${createHash("sha256").update(body).digest("hex").slice(0, 16)}"`,
      isHashed: path.startsWith("/assets/"),
    };
    this.#files.set(path, file);
    return file;
  }
}

function listed(root: string): readonly string[] {
  try {
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `/${relative(root, join(entry.parentPath, entry.name))}`);
  } catch {
    // The pages have not been built.
    return [];
  }
}
