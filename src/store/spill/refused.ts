/** The one error for blocks that every directory refused: each directory with its figures, and what to do. */
import { SpillError } from "../../errors/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { formatSize } from "../../units/index.ts";
import type { Quota } from "./quota.ts";

export interface Refusal {
  readonly path: string;
  readonly reason: string;
  readonly free: Bytes | null;
}

export function refused(bytes: Bytes, directories: readonly Refusal[], { limit, used }: Quota): SpillError {
  const each = directories.map(({ path, reason, free }) => {
    return `${path}: ${reason} (${free === null ? "free space unknown" : `${formatSize(free)} free`})`;
  });
  const quota = limit === null ? "there is no maxSpill" : `maxSpill is ${formatSize(limit)}`;
  return new SpillError(
    `${formatSize(bytes)} could not be spilled. ${each.join("; ")}. ${formatSize(used)} are spilled so far, ${quota}. ` +
      "Free space there, choose another localDirectory, raise maxSpill, or give the session a larger objectStoreMemory.",
    directories,
    limit,
    used,
  );
}
