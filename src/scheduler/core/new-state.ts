/** The state of a session that begins, from its options. */
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
    memory: newMemoryState(limits, pool),
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
