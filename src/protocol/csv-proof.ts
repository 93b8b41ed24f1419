/** What a task proves about CSV files before it reads them, and how it may then read them. */
import type { Bytes } from "./job.ts";

/** What is proved about the non-empty fields of a column; "any": only that they are fields. */
export type FieldProof =
  | { readonly kind: "any" | "date" | "timestamp" }
  /** Digits without a leading zero, at most this many. */
  | { readonly kind: "whole"; readonly digits: number; readonly signed: boolean }
  /** Digits, optionally with a point and further digits; at most this many characters. */
  | { readonly kind: "double"; readonly length: number };

export interface RecordProof {
  readonly delimiter: string;
  /** Two quotes stand for one inside quotes. Empty: nothing is quoted. */
  readonly quote: string;
  readonly fields: readonly FieldProof[];
}

export interface CsvStretch {
  readonly path: string;
  readonly start: Bytes;
  readonly end: Bytes;
  /** The first line names the columns. */
  readonly header: boolean;
}

export interface CsvProof {
  readonly stretches: readonly CsvStretch[];
  readonly records: RecordProof;
  /** Replaces the split's own SQL if everything is proved. */
  readonly sql: string;
}
