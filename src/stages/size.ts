/** How much data a plan hands on, as far as its sources tell, and how many partitions that is worth. */
import { columnsOf, type Plan } from "../plan/index.ts";
import type { Bytes } from "../protocol/index.ts";

const MIB = 2 ** 20;
/** What one reduce task takes. */
const PARTITION_BYTES: Bytes = 128 * MIB;
const MOST_PARTITIONS = 256;
const BROADCAST_BYTES: Bytes = 64 * MIB;
/** Of the store: every worker has a copy. */
const BROADCAST_SHARE = 16;
const ROW_BYTES: Bytes = 200;

/** Null: only running it tells. Never too little, but where lists are exploded. */
export function estimatedBytes(plan: Plan): Bytes | null {
  switch (plan.kind) {
    case "scan": {
      const bytes = plan.open?.bytes ?? null;
      const all = plan.open?.columns?.length ?? 0;
      return bytes === null || plan.columns === null || all === 0 ? bytes : (bytes * plan.columns.length) / all;
    }
    case "limit": {
      const input = estimatedBytes(plan.input);
      const most = plan.limit === null ? null : plan.limit * ROW_BYTES;
      return input === null || most === null ? (input ?? most) : Math.min(input, most);
    }
    case "union":
      return sum(plan.inputs.map(estimatedBytes));
    case "join":
      return plan.how === "semi" || plan.how === "anti"
        ? estimatedBytes(plan.left)
        : sum([plan.left, plan.right].map(estimatedBytes));
    case "zip":
      return sum([plan.left, plan.right].map(estimatedBytes));
    case "aggregate":
      return plan.keys.length === 0 ? ROW_BYTES : estimatedBytes(plan.input);
    case "project":
    case "window": {
      const input = estimatedBytes(plan.input);
      const before = columnsOf(plan.input)?.length;
      const after = columnsOf(plan)?.length;
      return input === null || !before || after === undefined ? input : (input * Math.max(1, after)) / before;
    }
    case "function":
      return plan.form === "filter" ? estimatedBytes(plan.input) : null;
    default:
      return estimatedBytes(plan.input);
  }
}

function sum(parts: readonly (Bytes | null)[]): Bytes | null {
  return parts.reduce((total, part) => (total === null || part === null ? null : total + part), 0);
}

export function partitionCount(bytes: Bytes | null, workers: number): number {
  if (bytes === null) return 4 * workers;
  return Math.max(2 * workers, Math.min(MOST_PARTITIONS, Math.ceil(bytes / PARTITION_BYTES)));
}

export function isSmall(bytes: Bytes | null, capacity: Bytes): boolean {
  return bytes !== null && bytes <= Math.min(BROADCAST_BYTES, capacity / BROADCAST_SHARE);
}
