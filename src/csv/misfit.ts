/**
 * What the SQL over files reports about a value that does not fit its column's type. Whoever makes the error uses it to
 * find the line.
 */
import type { TextEncoding } from "../protocol/index.ts";
import type { Dialect } from "./dialect.ts";

export interface Misfit {
  readonly operator: string;
  readonly column: string;
  /** The position of the column in its file. */
  readonly index: number;
  readonly type: string;
  /** The type was declared by the user, not found. */
  readonly declared: boolean;
  /** "json": a value is in the line of its row. Null: the file has no lines. */
  readonly dialect: Dialect | "json" | null;
  /** Of a CSV file. Default: UTF-8. */
  readonly encoding?: TextEncoding;
}

/** Begins the text of the kernel's error. A Misfit as JSON, a line break, and `{"file", "text"}` as JSON follow. */
export const MISFIT = "spillway misfit: ";
