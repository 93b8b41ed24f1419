/** An operator of a running job: where it stands in the plan, and what each room keeps of it. Plain data. */

import type { Bytes, Operator } from "../../protocol/index.ts";
import {
  newOperatorBudget,
  newOperatorEdges,
  newOperatorInput,
  newOperatorOutput,
  type OperatorBudget,
  type OperatorEdges,
  type OperatorInput,
  type OperatorOutput,
} from "./flow-state.ts";
import type { JobState } from "./job-state.ts";
import type { OperatorResult } from "./jobs-state.ts";
import { newOperatorNeeds, type OperatorNeeds } from "./needs-state.ts";
import { newOperatorPhases, type OperatorPhases } from "./phases-state.ts";
import type { Fed } from "./pieces.ts";

/** How an operator runs that looks at all rows; every other operator has no other way than `kernel`. */
export type Way =
  | { readonly kind: "kernel" }
  /** In the wide kernel; where that fails, there is another way. */
  | { readonly kind: "undecided" }
  /** Not in the kernel: it has failed, now or in an earlier run. Input is kept until it is known how much it is. */
  | { readonly kind: "waiting" }
  /** The program is planning the other way. */
  | { readonly kind: "asked" }
  /** Other operators have taken its place. */
  | { readonly kind: "exchange" };

export interface OperatorState {
  readonly job: JobState;
  readonly spec: Operator;
  /** Its place in the job: inputs before users, so a higher one is further downstream. Written by the room `jobs`. */
  depth: number;
  /** Written by `moveWay` alone (phases/way.ts). */
  way: Way;
  /** Takes its input and hands over its output in plan order. */
  readonly ordered: boolean;
  readonly isClass: boolean;
  readonly result: OperatorResult;
  readonly needs: OperatorNeeds;
  readonly phases: OperatorPhases;
  /** Written by the room `flow`, as are the next four. */
  ended: boolean;
  readonly edges: OperatorEdges;
  readonly input: OperatorInput;
  readonly output: OperatorOutput;
  readonly budget: OperatorBudget;
  /** The policy that holds it back at this moment; written by the room `placement`. */
  heldBy: string | null;
}

function firstWay(spec: Operator): Way {
  if (spec.kind !== "tasks" || spec.otherWay === undefined) return { kind: "kernel" };
  return { kind: spec.otherWay === "first" ? "waiting" : "undecided" };
}

/** `maxBundle`: the most bytes of the store for the input of one task of several blocks. */
export function newOperator(
  job: JobState,
  spec: Operator,
  place: Pick<OperatorState, "depth" | "ordered">,
  fed: Fed | null,
  maxBundle: Bytes,
): OperatorState {
  return {
    job,
    spec,
    ...place,
    way: firstWay(spec),
    isClass: spec.kind === "tasks" && spec.steps.some((step) => step.kind === "function" && step.isClass),
    result: { rows: 0, files: [] },
    needs: newOperatorNeeds(spec),
    phases: newOperatorPhases(),
    ended: false,
    edges: newOperatorEdges(),
    input: newOperatorInput(spec, fed, maxBundle),
    output: newOperatorOutput(),
    budget: newOperatorBudget(),
    heldBy: null,
  };
}
