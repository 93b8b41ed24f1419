/**
 * A captured function as text in a message, with a limit of size. Functions of a job go through the store instead,
 * without this limit.
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
