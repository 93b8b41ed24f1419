/** How much data a plan hands on, as far as its sources tell, and what is small. */
import { columnsOf, inputsOf, type Plan } from "../plan/index.ts";
import type { Bytes } from "../protocol/index.ts";

const MIB = 2 ** 20;
const BROADCAST_BYTES: Bytes = 64 * MIB;
/** Share of the store: every worker has a copy. */
const BROADCAST_SHARE = 16;
const ROW_BYTES: Bytes = 200;

const NOTHING_KNOWN: ReadonlyMap<Plan, Bytes> = new Map();

/** Null when only a run can tell. Never too low, unless lists are exploded. */
export function estimatedBytes(plan: Plan, known: ReadonlyMap<Plan, Bytes> = NOTHING_KNOWN): Bytes | null {
  const made = known.get(plan);
  if (made !== undefined) return made;
  const estimated = (input: Plan) => estimatedBytes(input, known);
  switch (plan.kind) {
    case "scan": {
      const bytes = plan.open?.bytes ?? null;
      const all = plan.open?.columns?.length ?? 0;
      return bytes === null || plan.columns === null || all === 0 ? bytes : (bytes * plan.columns.length) / all;
    }
    case "limit": {
      const input = estimated(plan.input);
      const most = plan.limit === null ? null : plan.limit * ROW_BYTES;
      return input === null || most === null ? (input ?? most) : Math.min(input, most);
    }
    case "union":
      return sum(plan.inputs.map(estimated));
    case "join":
      return plan.how === "semi" || plan.how === "anti"
        ? estimated(plan.left)
        : sum([plan.left, plan.right].map(estimated));
    case "zip":
      return sum([plan.left, plan.right].map(estimated));
    case "aggregate":
      return plan.keys.length === 0 ? ROW_BYTES : estimated(plan.input);
    case "project":
    case "window": {
      const input = estimated(plan.input);
      const before = columnsOf(plan.input)?.length;
      const after = columnsOf(plan)?.length;
      return input === null || !before || after === undefined ? input : (input * Math.max(1, after)) / before;
    }
    case "function":
      return plan.form === "filter" ? estimated(plan.input) : null;
    default:
      return estimated(plan.input);
  }
}

function sum(parts: readonly (Bytes | null)[]): Bytes | null {
  return parts.reduce((total, part) => (total === null || part === null ? null : total + part), 0);
}

export function isSmall(bytes: Bytes | null, capacity: Bytes): boolean {
  return bytes !== null && bytes <= Math.min(BROADCAST_BYTES, capacity / BROADCAST_SHARE);
}

/** Small enough for one thread of a worker, without waiting for the wide kernel or for its process to start. */
const QUICK_BYTES: Bytes = 4 * MIB;
/** Opening a file and finding out what it contains takes a thread about as long as reading this many bytes. */
const FILE_BYTES: Bytes = 16 * 1024;
/**
 * Share of the store: a worker's kernel may use about as much memory, and a sort needs several times the size of its
 * rows.
 */
const QUICK_SHARE = 32;
/**
 * For a join's smaller side: if all keys are equal, each row of the other side becomes as many rows as this side has.
 */
const QUICK_SIDE_BYTES: Bytes = 256 * 1024;

/** Whether an operation over all rows of so many files takes only a moment, whatever the values are (decision 0013). */
export function isQuick(plan: Plan, files: number, capacity: Bytes): boolean {
  const bytes = bytesRead(plan);
  const most = Math.min(QUICK_BYTES, capacity / QUICK_SHARE);
  return bytes !== null && bytes + files * FILE_BYTES <= most && !mayMultiply(plan);
}

/** Bytes that the plan's scans read together; null when only a run can tell. */
function bytesRead(plan: Plan): Bytes | null {
  return plan.kind === "scan" ? estimatedBytes(plan) : sum(inputsOf(plan).map(bytesRead));
}

/** Whether few rows may become very many somewhere below. */
function mayMultiply(plan: Plan): boolean {
  if (plan.kind === "explode") return true;
  if (plan.kind === "join" && plan.how !== "semi" && plan.how !== "anti") {
    const sides = [plan.left, plan.right].map((side) => estimatedBytes(side) ?? Number.POSITIVE_INFINITY);
    if (Math.min(...sides) > QUICK_SIDE_BYTES) return true;
  }
  return inputsOf(plan).some(mayMultiply);
}
