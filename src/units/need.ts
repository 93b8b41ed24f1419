/** A learned need in words, the same in notices, errors, statistics and plans. */
import type { LearnedNeed } from "../protocol/index.ts";
import { formatSize } from "./size.ts";

/** "batches of 128 rows, 1 at once, 412 MiB each"; empty if nothing was learned. */
export function needText({ batchSize, atOnce, alone, memory }: LearnedNeed): string {
  const parts: string[] = [];
  if (batchSize !== null) parts.push(batchSize === 1 ? "batches of 1 row" : `batches of ${batchSize} rows`);
  if (alone) parts.push("alone on the machine");
  else if (atOnce !== null) parts.push(`${atOnce} at once`);
  // The memory is reserved only if fewer tasks run at once; a task alone has all of it.
  if (memory !== null && !alone && atOnce !== null) parts.push(`${formatSize(memory)} each`);
  return parts.join(", ");
}
