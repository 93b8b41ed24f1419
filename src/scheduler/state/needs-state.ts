/** What the room `needs` keeps and alone writes: what the tasks of an operator ask for, and what they take. */
import type { Appetite, Bytes, LearnedNeed, Milliseconds, Operator } from "../../protocol/index.ts";
import { Resources } from "./resources.ts";

export interface OperatorNeeds {
  /** Cores and memory of a running task of it: what its functions ask for, and what was learned. */
  request: Resources;
  /** GPUs that a task of it, or an instance of its class, has. */
  readonly gpus: number;
  /** Null: no task of it has run out of memory. */
  learned: LearnedNeed | null;
  /** The kernel ran out of memory in one of its tasks: a task that runs alone gets more for its kernel than usual. */
  kernelRanOut: boolean;
  /** It is of interest what its tasks take: they run functions, in a worker. */
  readonly countsAppetite: boolean;
  /** What a task is expected to take; null: nothing was seen. */
  appetite: Appetite | null;
  /** What its last tasks took, the oldest first. */
  readonly took: Bytes[];
  /** The most that a task took that has ended; 0: none has. */
  mostTook: Bytes;
  /**
   * Tasks wait for the first batch of the first one, its trial: so many run until then at the most. Null: nobody waits.
   */
  trial: { readonly since: Milliseconds; readonly until: Milliseconds; readonly tasks: number } | null;
}

export function newOperatorNeeds(spec: Operator): OperatorNeeds {
  // The wide kernel is not among the workers, so its resources come on top.
  const isInWorkers = spec.kind === "tasks" && spec.place === "worker";
  const earlier = spec.kind === "tasks" ? spec.appetite : null;
  return {
    request: isInWorkers ? new Resources({ ...spec.request, gpu: 0 }) : Resources.none,
    gpus: spec.kind === "tasks" ? spec.request.gpu : 0,
    learned: null,
    kernelRanOut: false,
    countsAppetite: isInWorkers && spec.steps.some(({ kind }) => kind === "function"),
    appetite: earlier === null ? null : { bytes: earlier, from: "earlier" },
    took: [],
    mostTook: 0,
    trial: null,
  };
}
