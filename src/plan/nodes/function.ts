/** Runs a user's function or class over rows or batches. Its output is known only when it runs. */
import type { FunctionOptions, ResourceRequest } from "../../protocol/index.ts";
import type { Plan } from "../plan.ts";

/** A function ready to travel. */
interface ShippedFunction {
  readonly payload: Uint8Array;
  readonly name: string;
  readonly isClass: boolean;
  /** The columns that it can read; null if it may read any. */
  readonly columns: readonly string[] | null;
  /** The user named those columns: a missing one is an error. */
  readonly columnsDeclared: boolean;
  /**
   * The columns that it returns according to its source; `rest`: also all columns of its input. Null if the source does
   * not tell.
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
  /** How many workers may run it at once; null: all. */
  readonly concurrency: { readonly min: number; readonly max: number } | null;
  /** Null: the session's setting. */
  readonly maxRetries: number | null;
  readonly maxOomRetries: number | null;
}

export function functionNode(node: Omit<FunctionNode, "kind">): FunctionNode {
  return Object.freeze({ kind: "function", ...node });
}

/** `map(addTax)`, `mapBatches(Model)`, or only `map` for a function without a name. */
export function functionLabel(node: Pick<FunctionNode, "form" | "fn">): string {
  return node.fn.name === "" ? node.form : `${node.form}(${node.fn.name})`;
}
