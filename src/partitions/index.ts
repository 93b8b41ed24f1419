/**
 * How many partitions rows are cut into, and which of them one task takes together. Pure: the same rule serves the
 * tasks of one machine and of many.
 */
import type { Bytes, PartitionSizes } from "../protocol/index.ts";

/** What one task that gathers a partition takes at most, however much memory it has. */
const MOST_TARGET: Bytes = 128 * 2 ** 20;
/** Less would be tasks that only begin and end. */
const LEAST_TARGET: Bytes = 2 ** 20;
/** Rows of a partition lie in a kernel once as they come, and once more sorted or grouped; texts take more. */
const KERNEL_SHARE = 4;
/** A smaller block costs more than its rows. */
const SMALLEST_BLOCK: Bytes = 64 * 1024;
/** If only a run can tell how much there is: partitions for this many times the store, and at most this many. */
const STORES = 4;
const MOST_UNKNOWN = 64;

/** What one task takes well, if its kernel may use so much memory (null: no limit). */
export function targetFor(kernel: Bytes | null): Bytes {
  if (kernel === null) return MOST_TARGET;
  return Math.max(LEAST_TARGET, Math.min(MOST_TARGET, Math.floor(kernel / KERNEL_SHARE)));
}

/**
 * Into how many partitions rows are scattered. Too many do no harm, because tasks take neighbours together.
 * `bytes`: null if only a run can tell; `scattered`: what a scattering task holds before it hands on its blocks.
 */
export function partitionsFor(
  bytes: Bytes | null,
  { target, atLeast }: PartitionSizes,
  { capacity, scattered }: { readonly capacity: Bytes; readonly scattered: Bytes },
): number {
  const unknown = () => Math.min(MOST_UNKNOWN, Math.ceil((STORES * capacity) / target));
  const wanted = bytes === null ? unknown() : Math.ceil(bytes / target);
  return Math.max(atLeast, Math.min(wanted, Math.floor(scattered / SMALLEST_BLOCK)));
}

/**
 * Partitions that one task takes together, by the bytes that they turned out to have: neighbours, in order, up to the
 * target. A partition that is larger is alone. Empty partitions are left out.
 */
export function groupsOf(bytes: readonly Bytes[], { target, atLeast }: PartitionSizes): readonly (readonly number[])[] {
  const total = bytes.reduce((sum, one) => sum + one, 0);
  const most = Math.min(target, total / Math.max(1, atLeast));
  const groups: number[][] = [];
  let room = 0;
  for (const [partition, size] of bytes.entries()) {
    if (size === 0) continue;
    const last = groups.at(-1);
    if (last !== undefined && size <= room) {
      last.push(partition);
      room -= size;
    } else {
      groups.push([partition]);
      room = most - size;
    }
  }
  return groups;
}
