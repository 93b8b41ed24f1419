/** Runs a user's function or class over rows or batches. What comes out of it is known only when it runs. */
import type { FunctionOptions, ResourceRequest } from "../../protocol/index.ts";
import type { Plan } from "../plan.ts";

/** A function ready to travel. */
export interface ShippedFunction {
  readonly payload: Uint8Array;
  readonly name: string;
  readonly isClass: boolean;
  /** The columns it can read; null where it may read any. */
  readonly columns: readonly string[] | null;
  /** The user named those columns: one that does not exist is an error. */
  readonly columnsDeclared: boolean;
  /**
   * The columns that its source says it returns, `rest` those of its input as well; null where it says nothing of them.
   */
  readonly returns: { readonly rest: boolean; readonly names: readonly string[] } | null;
}

export interface FunctionNode {
  readonly kind: "function";
  readonly input: Plan;
  readonly form: "map" | "flatMap" | "filter" | "mapBatches" | "mapGroups";
  readonly fn: ShippedFunction;
  readonly options: FunctionOptions;
  readonly request: ResourceRequest;
  /** Workers that may run it at once; null: all of them. */
  readonly concurrency: { readonly min: number; readonly max: number } | null;
  /** Null: the session's. */
  readonly maxRetries: number | null;
  readonly maxOomRetries: number | null;
}

export function functionNode(node: Omit<FunctionNode, "kind">): FunctionNode {
  return Object.freeze({ kind: "function", ...node });
}

/** `map(addTax)`, `mapBatches(Model)`, or only `map` where the function has no name. */
export function functionLabel(node: Pick<FunctionNode, "form" | "fn">): string {
  return node.fn.name === "" ? node.form : `${node.form}(${node.fn.name})`;
}
