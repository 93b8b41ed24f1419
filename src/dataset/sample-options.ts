/** The size of a sample, checked. */
import { OptionError } from "../errors/index.ts";
import type { SampleNode } from "../plan/index.ts";
import { describe, wholeNumber } from "./options.ts";

export type SampleOptions =
  | { readonly fraction: number; readonly rows?: never; readonly seed?: number }
  | { readonly rows: number; readonly fraction?: never; readonly seed?: number };

export function sampleSize(fraction: number | undefined, rows: number | undefined): SampleNode["size"] {
  if ((fraction === undefined) === (rows === undefined)) throw new OptionError("sample: give either fraction or rows.");
  if (rows !== undefined) return { kind: "rows", rows: wholeNumber("sample", "rows", rows) };
  if (typeof fraction !== "number" || !(fraction >= 0 && fraction <= 1)) {
    throw new OptionError(`sample: fraction is ${describe(fraction)}; it must be from 0 to 1.`);
  }
  return { kind: "fraction", fraction };
}
