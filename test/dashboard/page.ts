/** A page of the dashboard without a browser: shows its link once, keeps the cookie, and follows the board. */
import { request } from "node:http";
import type { OperatorCard, OperatorNow, Patch, Series, Snapshot } from "../../src/dashboard/api.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** With any headers, which `fetch` would not send. */
export function ask(
  url: string | URL,
  headers: Readonly<Record<string, string>> = {},
  { method = "GET", body = "", path }: { method?: string; body?: string; path?: string } = {},
): Promise<Answer> {
  const { hostname, port, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const options = { hostname, port, path: path ?? `${pathname}${search}`, method, headers, agent: false };
    const asking = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on("error", reject);
    });
    asking.on("error", reject);
    asking.end(body);
  });
}

export class Page {
  /** The board as this page has it. */
  readonly entries = new Map<string, unknown>();
  snapshots = 0;
  patches = 0;
  /** Characters of the largest one. */
  largestPatch = 0;
  isOver = false;
  readonly #cookie: string;
  readonly #url: URL;
  readonly #abort = new AbortController();

  private constructor(url: string, cookie: string) {
    this.#url = new URL(url);
    this.#cookie = cookie;
  }

  /** `url`: with the token. */
  static async open(url: string | null): Promise<Page> {
    if (url === null) throw new Error("The session has no dashboard.");
    const { status, headers } = await ask(url);
    if (status !== 303) throw new Error(`The link was answered with ${status}.`);
    const [cookie = ""] = headers["set-cookie"] ?? [];
    return new Page(url, cookie.split(";")[0] ?? "");
  }

  ask(path: string, headers: Readonly<Record<string, string>> = {}, method = "GET", body = ""): Promise<Answer> {
    return ask(new URL(path, this.#url), { cookie: this.#cookie, ...headers }, { method, body });
  }

  async get<Value>(path: string): Promise<Value> {
    const { status, text } = await this.ask(path);
    if (status !== 200) throw new Error(`${path} was answered with ${status}: ${text}`);
    return JSON.parse(text);
  }

  /** Resolves with the snapshot; patches follow. */
  async follow(): Promise<this> {
    const { signal } = this.#abort;
    const url = new URL("/api/stream", this.#url);
    const response = await fetch(url, { headers: { cookie: this.#cookie }, signal });
    const reader = response.body?.getReader();
    if (response.status !== 200 || reader === undefined) throw new Error(`The stream answered ${response.status}.`);
    await new Promise<void>((resolve, reject) => void this.#read(reader, resolve).catch(reject));
    return this;
  }

  entry<Value>(key: string): Value {
    const value = this.entries.get(key);
    if (value === undefined) throw new Error(`The board has no ${key}, but ${[...this.entries.keys()].join(", ")}.`);
    // As the server has it: api.ts is the contract.
    return value as Value;
  }

  /** Entries whose keys begin so. */
  all<Value>(prefix: string): Value[] {
    return [...this.entries].flatMap(([key, value]) => (key.startsWith(prefix) ? [value as Value] : []));
  }

  /** Operators with their plans. */
  operators(): OperatorCard[] {
    return this.all<OperatorNow>("operator/").map((now) => ({ ...now, plan: this.entry(`plan/${now.job}/${now.id}`) }));
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>, begun: () => void): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += decoder.decode(value, { stream: true });
        const events = text.split("\n\n");
        text = events.pop() ?? "";
        for (const event of events) this.#receive(event);
        if (this.snapshots > 0) begun();
      }
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error;
    } finally {
      this.isOver = true;
    }
  }

  #receive(event: string): void {
    const [, name = "", data = ""] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
    if (name === "snapshot") {
      const { entries }: Snapshot = JSON.parse(data);
      this.entries.clear();
      for (const [key, value] of Object.entries(entries)) this.entries.set(key, value);
      this.snapshots += 1;
    } else if (name === "patch") {
      const { set = {}, remove = [], append = {} }: Patch = JSON.parse(data);
      for (const [key, value] of Object.entries(set)) this.entries.set(key, value);
      for (const key of remove) this.entries.delete(key);
      for (const [key, more] of Object.entries(append)) this.entries.set(key, appended(this.entries.get(key), more));
      this.patches += 1;
      this.largestPatch = Math.max(this.largestPatch, data.length);
    }
  }
}

function appended(had: unknown, more: unknown): unknown {
  if (Array.isArray(more)) return [...(Array.isArray(had) ? had : []), ...more];
  const [one, two] = [had as Series, more as Series];
  const values = Object.fromEntries(
    Object.entries(one.values).map(([name, column]) => [name, [...column, ...(two.values[name] ?? [])]]),
  );
  return { t: [...one.t, ...two.t], values };
}
