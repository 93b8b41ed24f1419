/** What a task proves of CSV files before it reads them, and how it may read them then. */
import type { Bytes } from "./job.ts";

/** What is proved of a column's fields, empty ones aside; "any": that they are fields. */
export type FieldProof =
  | { readonly kind: "any" | "date" | "timestamp" }
  /** Digits without a zero before them, as many at most. */
  | { readonly kind: "whole"; readonly digits: number; readonly signed: boolean }
  /** Digits, perhaps with a point and more of them; so many characters at most. */
  | { readonly kind: "double"; readonly length: number };

export interface RecordProof {
  readonly delimiter: string;
  /** Two of them are one inside of quotes. Empty: nothing is quoted. */
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
  /** Instead of the split's own, where everything is proved. */
  readonly sql: string;
}
