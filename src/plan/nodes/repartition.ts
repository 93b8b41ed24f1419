/** The same rows in other partitions. */
import type { Bytes } from "../../protocol/index.ts";
import type { Plan } from "../plan.ts";

export interface RepartitionNode {
  readonly kind: "repartition";
  readonly input: Plan;
  readonly into: /** Equal numbers of rows, in order. */
    | { readonly kind: "parts"; readonly count: number }
    | { readonly kind: "rows"; readonly rows: number }
    | { readonly kind: "bytes"; readonly bytes: Bytes }
    /** Rows with equal keys together; null: the planner chooses the number. */
    | { readonly kind: "keys"; readonly keys: readonly string[]; readonly count: number | null };
}

export function repartition(input: Plan, into: RepartitionNode["into"]): RepartitionNode {
  return Object.freeze({ kind: "repartition", input, into });
}
