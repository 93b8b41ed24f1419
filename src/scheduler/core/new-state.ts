/** The state of a session that begins, from its options. */
import type { AllotmentPlan } from "../../memory/index.ts";
import { Ledger } from "../../store/index.ts";
import {
  type EventStream,
  newFlowState,
  newMemoryState,
  newPhasesState,
  newPlacementState,
  newResourcesState,
  newStartsState,
  newStoreState,
  type SchedulerOptions,
  type State,
} from "../state/index.ts";
import { blockWatch } from "./noting.ts";

export function newState(options: SchedulerOptions): State {
  const { arenaSize, capacity, workerHeap: heapLimit, workerMemory, managedTarget, pool } = options;
  const stream: EventStream = { at: 0, events: [] };
  const limits = { workerMemory: workerMemory ?? Number.POSITIVE_INFINITY, heapLimit, managedTarget };
  return {
    options,
    ledger: new Ledger(arenaSize, capacity, managedTarget, blockWatch(stream)),
    jobs: new Map(),
    workers: new Map(),
    phases: newPhasesState(),
    flow: newFlowState(),
    store: newStoreState(),
    starts: newStartsState(),
    memory: newMemoryState(limits, pool, planOf(options)),
    resources: newResourcesState(options.resources, options.devices),
    placement: newPlacementState(),
    alone: new Set(),
    trials: new Set(),
    now: 0,
    order: 0,
    commands: [],
    stream,
  };
}

/** Without readings of memory, nothing is known of the program and of other sessions. */
function planOf({
  pool,
  memory,
  capacity,
  workers,
  automaticLimits,
  isStoreGiven,
  areWorkersGiven,
  workerMemory,
  workerHeap,
}: SchedulerOptions): AllotmentPlan | null {
  if (pool === null || memory === null) return null;
  const { overhead, worker, threads } = pool;
  const limits = automaticLimits ? { limit: workerMemory, heap: workerHeap } : { limit: null, heap: null };
  return {
    memory: pool.memory,
    overhead,
    worker,
    store: capacity,
    workers,
    cores: threads,
    isStoreGiven,
    areWorkersGiven,
    ...limits,
  };
}
