/** Reads the small JSON body of a request. */
import type { IncomingMessage } from "node:http";
import type { Bytes } from "../../protocol/index.ts";
import { Refusal } from "./answer.ts";

const MOST: Bytes = 4 * 1024;

export async function readBody(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    if (!Buffer.isBuffer(piece)) continue;
    bytes += piece.length;
    if (bytes > MOST)
      throw new Refusal(413, `The body is larger than ${MOST} bytes, which is the most that a request may have.`);
    pieces.push(piece);
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString("utf8"));
  } catch {
    throw new Refusal(400, "The body is not valid JSON.");
  }
}
