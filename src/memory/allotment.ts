/**
 * What the processes of a session may have when the session has less of the node than it was planned for: other
 * sessions need a share, or the program itself holds much. Only arithmetic; the scheduler decides what follows.
 */
import type { Bytes } from "../protocol/index.ts";
import { automaticLimit, heapThatFits } from "./shares.ts";

const MIB = 2 ** 20;

/** As the session was planned, with all of the memory. */
export interface AllotmentPlan {
  readonly memory: Bytes;
  /** For the program, the supervisor and the system. */
  readonly overhead: Bytes;
  /** For an idle worker. */
  readonly worker: Bytes;
  /** The store's capacity. */
  readonly store: Bytes;
  readonly workers: number;
  readonly cores: number;
  /** The user has set them: they stay as long as there is any memory for them. */
  readonly isStoreGiven: boolean;
  readonly areWorkersGiven: boolean;
  /** Limits of a worker that follow from the memory; null: the user has set them, or there are none. */
  readonly limit: Bytes | null;
  readonly heap: Bytes | null;
}

export interface Allotment {
  readonly memory: Bytes;
  /** The store's capacity in force. */
  readonly store: Bytes;
  readonly workers: number;
  /** As in the plan: null where they do not follow from the memory. */
  readonly limit: Bytes | null;
  readonly heap: Bytes | null;
  /** The largest block that new tasks make; null: as the job says. */
  readonly block: Bytes | null;
}

/** The part of the node's memory that a store always has. */
export const LEAST_STORE_SHARE = 0.05;
/** One worker runs functions over small blocks in this much (measured: 45 MiB with blocks of 6 MiB). */
export const LEAST_WORKER: Bytes = 72 * MIB;
/** Smaller blocks cost more in messages than they free. */
const LEAST_BLOCK: Bytes = 2 * MIB;
/** A worker holds the block that it makes, the rows that go into it, and garbage; the store two blocks a worker. */
const BLOCK_OF_HEAP = 1 / 8;
const BLOCK_OF_STORE = 1 / 4;

/** The least memory in which the session can work at all. */
export function leastMemory(plan: AllotmentPlan): Bytes {
  return Math.min(plan.memory, plan.overhead + LEAST_WORKER + leastStore(plan));
}

export function allot(plan: AllotmentPlan, memory: Bytes): Allotment {
  const { overhead, cores, limit, heap } = plan;
  if (memory >= plan.memory)
    return { memory: plan.memory, store: plan.store, workers: plan.workers, limit, heap, block: null };
  const rest = Math.max(0, memory - overhead);
  const store = storeOf(plan, memory, rest);
  const workers = workersOf(plan, rest - store);
  const node = { memory, store, cores };
  const lowerHeap = heap === null ? null : Math.min(heap, heapThatFits(node, workers));
  const ofHeap = lowerHeap === null ? Number.POSITIVE_INFINITY : lowerHeap * BLOCK_OF_HEAP;
  return {
    memory,
    store,
    workers,
    limit: limit === null ? null : Math.min(limit, Math.max(automaticLimit(node, workers), LEAST_WORKER)),
    heap: lowerHeap,
    block: Math.max(LEAST_BLOCK, Math.floor(Math.min(ofHeap, (store / workers) * BLOCK_OF_STORE))),
  };
}

/** In proportion to the memory, but a worker always fits beside it. */
function storeOf(plan: AllotmentPlan, memory: Bytes, rest: Bytes): Bytes {
  const inProportion = plan.isStoreGiven ? plan.store : plan.store * (Math.max(0, memory) / plan.memory);
  return Math.floor(Math.max(leastStore(plan), Math.min(inProportion, rest - LEAST_WORKER)));
}

function leastStore(plan: AllotmentPlan): Bytes {
  return Math.min(plan.store, plan.memory * LEAST_STORE_SHARE);
}

/** As many as there is memory for; a user's own number may have planned less for each than a worker takes. */
function workersOf(plan: AllotmentPlan, room: Bytes): number {
  const planned = (plan.memory - plan.overhead - plan.store) / plan.workers;
  const each = Math.max(1, Math.min(plan.areWorkersGiven ? LEAST_WORKER : plan.worker, planned));
  return Math.max(1, Math.min(plan.workers, Math.floor(room / each)));
}
