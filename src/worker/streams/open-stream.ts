/**
 * The stream of a task as a file for the kernel: a pipe, which a thread of this process writes while the kernel reads.
 * It takes only the memory of the pipe, whatever the size of the file.
 */
import { closeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { KernelError, SourceError } from "../../errors/index.ts";
import { openPipe } from "../../native/index.ts";
import type { TextStream } from "../../protocol/index.ts";
import { linesBefore } from "../../text/index.ts";

export interface StreamOrder {
  readonly id: number;
  readonly pipe: number;
  readonly stream: TextStream;
}

export interface StreamEnd {
  readonly id: number;
  /** Null: everything was written, or as much as was wanted. */
  readonly failure: string | null;
}

const THREAD_HEAP_MB = 64;
let thread: Worker | null = null;
let next = 0;
const waiting = new Map<number, (failure: string | null) => void>();

function streamThread(): Worker {
  if (thread !== null) return thread;
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const file = extension === "ts" ? "./stream-thread.ts" : "../worker/stream-thread.js";
  thread = new Worker(new URL(file, import.meta.url), {
    trackUnmanagedFds: false,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
    execArgv: [],
  });
  thread.on("message", ({ id, failure }: StreamEnd) => {
    waiting.get(id)?.(failure);
    waiting.delete(id);
  });
  thread.on("error", (error) => {
    thread = null;
    for (const end of waiting.values()) end(error.message);
    waiting.clear();
  });
  thread.unref();
  return thread;
}

export class OpenStream {
  readonly #stream: TextStream;
  readonly #readEnd: number;
  /** Resolves to its failure. */
  readonly #end: Promise<string | null>;
  #isOpen = true;

  constructor(stream: TextStream) {
    const { readEnd, writeEnd } = openPipe();
    const id = next++;
    this.#stream = stream;
    this.#readEnd = readEnd;
    this.#end = new Promise<string | null>((resolve) => {
      waiting.set(id, resolve);
    });
    const order: StreamOrder = { id, pipe: writeEnd, stream };
    streamThread().postMessage(order);
  }

  /** SQL for its path. */
  get sql(): string {
    return `'${kernelPath(this.#readEnd)}'`;
  }

  /** Called when the kernel has read it: throws if it ended too early. */
  async check(): Promise<void> {
    this.close();
    const failure = await this.#end;
    if (failure !== null) throw new SourceError(failure, this.#stream.path);
  }

  /** Tells a waiting writer that nothing reads any more. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#readEnd);
  }

  /** The kernel's error about the stream, with the file's name and lines. */
  async inFileWords(error: unknown): Promise<unknown> {
    if (!(error instanceof KernelError)) return error;
    const { path, start, encoding } = this.#stream;
    const before = await linesBefore(path, start, encoding).catch(() => 0);
    const message = error.message
      .replaceAll(kernelPath(this.#readEnd), path)
      .replace(/(on Line: |in line )(\d+)/g, (_, words: string, line: string) => `${words}${Number(line) + before}`);
    return new KernelError(message, error.kind, error.sql);
  }
}

function kernelPath(fd: number): string {
  return process.platform === "linux" ? `/proc/self/fd/${fd}` : `/dev/fd/${fd}`;
}
