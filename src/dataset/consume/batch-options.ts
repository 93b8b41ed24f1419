/** The options for handing out rows in batches, checked. */
import type { ValueOptions } from "../../arrow/index.ts";
import { OptionError } from "../../errors/index.ts";
import type { BatchFormat } from "../batch-functions.ts";
import { checkedValues, valueKeys } from "../functions.ts";
import { checkKeys, oneOf, positiveInteger, wholeNumber } from "../options.ts";
import type { BatchesOptions } from "./batches.ts";
import { DEFAULT_PREFETCH } from "./blocks.ts";
import { type CancelOptions, cancelKeys } from "./cancellation.ts";

export interface IterBatchesOptions extends ValueOptions, CancelOptions {
  readonly batchSize?: number;
  readonly batchFormat?: BatchFormat;
  /** How many blocks may be made ahead of the reader. Default 2. */
  readonly prefetch?: number;
  /** Leave out the last batch if it is not full. */
  readonly dropLast?: boolean;
  /** Shuffle rows within a buffer of this many rows. */
  readonly localShuffle?: { readonly bufferSize?: number; readonly rows?: number; readonly seed?: number };
}

export function checkedBatches(options: IterBatchesOptions): BatchesOptions {
  const known = [...valueKeys, "batchSize", "batchFormat", "prefetch", "dropLast", "localShuffle", ...cancelKeys];
  checkKeys("iterBatches", options, known);
  const {
    batchSize = 1024,
    batchFormat = "columns",
    prefetch = DEFAULT_PREFETCH,
    dropLast = false,
    localShuffle,
  } = options;
  if (typeof dropLast !== "boolean") throw new OptionError("iterBatches: dropLast must be true or false.");
  return {
    batchSize: positiveInteger("iterBatches", "batchSize", batchSize),
    batchFormat: oneOf("iterBatches", "batchFormat", batchFormat, ["columns", "rows", "arrow"]),
    prefetch: positiveInteger("iterBatches", "prefetch", prefetch),
    dropLast,
    localShuffle: localShuffle === undefined ? null : checkedShuffle(localShuffle),
    inOrder: localShuffle?.seed !== undefined,
    values: checkedValues("iterBatches", options),
  };
}

function checkedShuffle(options: NonNullable<IterBatchesOptions["localShuffle"]>): BatchesOptions["localShuffle"] {
  checkKeys("iterBatches: localShuffle", options, ["bufferSize", "rows", "seed"]);
  const { bufferSize, rows, seed = Math.floor(Math.random() * 2 ** 31) } = options;
  if ((bufferSize === undefined) === (rows === undefined)) {
    throw new OptionError("iterBatches: localShuffle needs a bufferSize in rows, such as { bufferSize: 10_000 }.");
  }
  return {
    bufferSize: positiveInteger("iterBatches", "localShuffle.bufferSize", bufferSize ?? rows),
    seed: wholeNumber("iterBatches", "localShuffle.seed", seed),
  };
}
