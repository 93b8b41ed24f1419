/**
 * Messages over a socket: each frame is a uint32 length (little endian) and that many bytes of UTF-8 JSON. Knows
 * nothing of what messages mean. It trusts the types of the peer's messages, because only a peer with the token is
 * connected. It does not trust the peer to be intact: a frame that is too large or malformed ends the connection.
 */
import type { Socket } from "node:net";
import { SpillwayError } from "../errors/index.ts";

const HEADER = 4;
/** Blocks and payloads travel through the store, so a frame this large means a broken peer. */
export const MAX_FRAME = 256 * 1024 * 1024;

export class Wire<In, Out> {
  readonly #socket: Socket;
  readonly #received: Buffer[] = [];
  #receivedBytes = 0;
  /** Bytes of the present frame, header included; HEADER until its length is known. */
  #needed = HEADER;
  #onMessage: ((message: In) => void) | null = null;
  #onClose: ((error: Error | null) => void)[] = [];
  #error: Error | null = null;
  #state: "open" | "ending" | "closed" = "open";
  #corked = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", (error) => {
      this.#error ??= error;
    });
    socket.on("close", () => {
      this.#state = "closed";
      for (const handler of this.#onClose) handler(this.#error);
    });
  }

  /** A message to a closed wire is dropped. The close handler tells the owner that the wire is closed. */
  send(message: Out): void {
    if (this.#state !== "open" || this.#socket.destroyed) return;
    this.sendText(JSON.stringify(message));
  }

  /** Sends a message that is already JSON, for messages to many receivers. */
  sendText(text: string): void {
    if (this.#state !== "open" || this.#socket.destroyed) return;
    const bytes = Buffer.byteLength(text);
    if (bytes > MAX_FRAME) {
      throw new SpillwayError(
        `A message of ${bytes} bytes is over the limit of ${MAX_FRAME}: put the data in a block.`,
      );
    }
    const frame = Buffer.allocUnsafe(HEADER + bytes);
    frame.writeUInt32LE(bytes, 0);
    frame.write(text, HEADER);
    this.#corkUntilNextTick();
    this.#socket.write(frame);
  }

  /** Bytes that were sent but not taken by the system, because the peer does not read. */
  get unread(): number {
    return this.#socket.writableLength;
  }

  /** Nothing is read from the socket before there is a handler, so no message is lost. */
  onMessage(handler: (message: In) => void): void {
    if (this.#onMessage === null) this.#socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.#onMessage = handler;
  }

  /** Called once, with the reason unless the end was orderly. */
  onClose(handler: (error: Error | null) => void): void {
    if (this.#state === "closed") queueMicrotask(() => handler(this.#error));
    else this.#onClose.push(handler);
  }

  /** Sends what is queued, then ends the connection without waiting for the peer. */
  close(): void {
    if (this.#state !== "open") return;
    this.#state = "ending";
    this.#socket.end(() => this.#socket.destroy());
  }

  /** Called when a peer that had fallen behind has read everything. */
  onRead(handler: () => void): void {
    this.#socket.on("drain", handler);
  }

  /** Ends the connection at once and drops what is queued. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Sends the messages of one tick in one system call. */
  #corkUntilNextTick(): void {
    if (this.#corked) return;
    this.#corked = true;
    this.#socket.cork();
    process.nextTick(() => {
      this.#corked = false;
      this.#socket.uncork();
    });
  }

  #receive(chunk: Buffer): void {
    this.#received.push(chunk);
    this.#receivedBytes += chunk.length;
    // Chunks are only joined once a whole frame is there, so that a large frame is copied once.
    if (this.#receivedBytes < this.#needed) return;
    const only = this.#received[0];
    const bytes = this.#received.length === 1 && only !== undefined ? only : Buffer.concat(this.#received);
    let at = 0;
    this.#needed = HEADER;
    try {
      while (this.#state === "open" && bytes.length - at >= HEADER) {
        const length = bytes.readUInt32LE(at);
        if (length > MAX_FRAME) {
          this.#refuse(`a frame of ${length} bytes is over the limit of ${MAX_FRAME}`);
          return;
        }
        if (bytes.length - at < HEADER + length) {
          this.#needed = HEADER + length;
          break;
        }
        const text = bytes.toString("utf8", at + HEADER, at + HEADER + length);
        at += HEADER + length;
        const message = this.#parse(text);
        if (message === null) return;
        this.#onMessage?.(message);
      }
    } finally {
      // Also after a handler threw: messages that were read are not read again.
      this.#received.length = 0;
      this.#receivedBytes = this.#state === "open" ? bytes.length - at : 0;
      if (this.#receivedBytes > 0) this.#received.push(bytes.subarray(at));
    }
  }

  #parse(text: string): In | null {
    try {
      return JSON.parse(text) as In;
    } catch (error) {
      this.#refuse(`a frame of ${Buffer.byteLength(text)} bytes is not JSON (${(error as Error).message})`);
      return null;
    }
  }

  #refuse(why: string): void {
    this.#error = new SpillwayError(`The connection was closed: ${why}.`);
    this.#state = "ending";
    this.#received.length = 0;
    this.#socket.destroy();
  }
}
