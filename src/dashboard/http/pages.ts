/**
 * The open pages. Each page first gets a snapshot; then all pages get the same patches as server-sent events. A page
 * that reads too slowly gets nothing until it has read everything, and then a new snapshot. Without pages, nothing is
 * computed.
 */
import type { Bytes, Milliseconds } from "../../protocol/index.ts";
import type { Board } from "../views/index.ts";
import { Refusal, type Response } from "./answer.ts";

const PERIOD: Milliseconds = 500;
/** A comment line sent this often keeps connections open and reveals those that are gone. */
const HEARTBEAT: Milliseconds = 15_000;
const MOST = 64;
const MOST_UNREAD: Bytes = 2 ** 20;

export class Pages {
  /** Open pages; a page that is behind gets no patches. */
  readonly #pages = new Map<Response, { isBehind: boolean }>();
  #timer: NodeJS.Timeout | null = null;
  #saidAt: Milliseconds = 0;

  constructor(private readonly board: Board) {}

  get size(): number {
    return this.#pages.size;
  }

  open(response: Response): void {
    if (this.#pages.size >= MOST) throw new Refusal(503, `${MOST} pages are open already: close one.`);
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    // The other pages get their patch first: the new page's snapshot would otherwise take these changes from them.
    this.update();
    const page = { isBehind: false };
    this.#pages.set(response, page);
    response.on("close", () => this.#closed(response));
    response.on("drain", () => {
      if (!page.isBehind) return;
      page.isBehind = false;
      this.update();
      this.#sendSnapshot(response);
    });
    response.write("retry: 1000\n\n");
    this.#sendSnapshot(response);
    this.#timer ??= setInterval(() => this.update(), PERIOD);
  }

  update(): void {
    const patch = this.board.update();
    const now = performance.now();
    if (patch === null && now - this.#saidAt < HEARTBEAT) return;
    this.#saidAt = now;
    const text = patch === null ? ":\n\n" : `event: patch\ndata: ${patch}\n\n`;
    for (const [response, page] of this.#pages) {
      if (page.isBehind) continue;
      if (response.writableLength > MOST_UNREAD) page.isBehind = true;
      else response.write(text);
    }
  }

  /** Sends a last patch, then ends the streams. */
  close(): void {
    this.update();
    for (const response of this.#pages.keys()) response.end();
  }

  #sendSnapshot(response: Response): void {
    response.write(`event: snapshot\ndata: ${this.board.snapshot()}\n\n`);
  }

  #closed(response: Response): void {
    this.#pages.delete(response);
    if (this.#pages.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
