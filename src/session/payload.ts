/**
 * A captured function as text in a message. What belongs to a job goes through the store instead, which has no such
 * bound.
 */
import { OptionError } from "../errors/index.ts";
import type { Bytes } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";

const LARGEST: Bytes = 64 * 2 ** 20;

export function payloadText(operator: string, payload: Uint8Array): string {
  if (payload.byteLength <= LARGEST) return Buffer.from(payload).toString("base64");
  throw new OptionError(
    `${operator}: the function with its captured variables takes ${formatSize(payload.byteLength)}; the limit is ${formatSize(LARGEST)}. Write large data to a file and read it inside the function.`,
  );
}
