/** Types of what `mapBatches` takes. */
import type { BatchFunctionOptions } from "./functions.ts";
import type { BatchResult } from "./row-types.ts";

export type BatchFormat = "columns" | "rows" | "arrow";

/** A class for `mapBatches`: constructed once in each worker that runs it. */
export type BatchClass<In, Out, Args extends readonly unknown[]> = new (
  ...args: Args
) => { call(batch: In): BatchResult<Out>; dispose?(): unknown };

export type ClassOptions<Args extends readonly unknown[]> = BatchFunctionOptions &
  (Args extends readonly [] ? { readonly constructorArgs?: Args } : { readonly constructorArgs: Args });

/** For options whose format is only known at run time; the known formats have overloads of their own. */
export type AnyFormat<Options extends BatchFunctionOptions> = BatchFormat extends Options["batchFormat"]
  ? unknown
  : never;
