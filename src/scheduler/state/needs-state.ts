/** What the room `needs` keeps and alone writes: what the tasks of an operator ask for. */
import type { LearnedNeed, Operator } from "../../protocol/index.ts";
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
}

export function newOperatorNeeds(spec: Operator): OperatorNeeds {
  // The wide kernel is not among the workers, so its resources come on top.
  const isInWorkers = spec.kind === "tasks" && spec.place === "worker";
  return {
    request: isInWorkers ? new Resources({ ...spec.request, gpu: 0 }) : Resources.none,
    gpus: spec.kind === "tasks" ? spec.request.gpu : 0,
    learned: null,
    kernelRanOut: false,
  };
}
