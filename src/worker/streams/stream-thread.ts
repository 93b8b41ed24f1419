/**
 * The thread that writes streams into pipes, one after another. It is separate, because the kernel may wait for a pipe
 * on the main thread, and because a wait in the system must not occupy a place in Node's thread pool.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { sendFile } from "../../native/index.ts";
import type { TextStream } from "../../protocol/index.ts";
import { codeOf, messageOf } from "../../realm/index.ts";
import { isPlain, textOf } from "../../text/index.ts";
import type { StreamEnd, StreamOrder } from "./open-stream.ts";

/** The reader has had enough, or has failed and reports that itself. */
const CLOSED = "EPIPE";

let last: Promise<void> = Promise.resolve();

parentPort?.on("message", (order: StreamOrder) => {
  last = last.then(() => serve(order));
});

async function serve({ id, pipe, stream }: StreamOrder): Promise<void> {
  let end: StreamEnd = { id, failure: null };
  try {
    await write(pipe, stream);
  } catch (error) {
    if (codeOf(error) !== CLOSED) end = { id, failure: messageOf(error) };
  }
  closeSync(pipe);
  parentPort?.postMessage(end);
}

async function write(pipe: number, stream: TextStream): Promise<void> {
  if (isPlain(stream) && sent(pipe, stream)) return;
  for await (const piece of textOf(stream)) {
    for (let at = 0; at < piece.length; ) at += writeSync(pipe, piece, at);
  }
}

/** False if the system cannot send such a file. */
function sent(pipe: number, { path, start, end }: TextStream): boolean {
  const file = openSync(path, "r");
  try {
    return sendFile(pipe, file, start, end) !== null;
  } finally {
    closeSync(file);
  }
}
