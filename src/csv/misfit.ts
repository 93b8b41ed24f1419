/** What the SQL over a CSV or JSON file says of a text that its column's type cannot hold, for whoever looks for the line. */
import type { Dialect } from "./dialect.ts";

export interface Misfit {
  readonly operator: string;
  readonly column: string;
  /** The place of the column in its file. */
  readonly index: number;
  readonly type: string;
  /** The type was given, not found. */
  readonly declared: boolean;
  /** Null: of a JSON file, where a value stands in a line of its own row. */
  readonly dialect: Dialect | null;
}

/** Before a Misfit, a line break, and `{"file", "text"}` as JSON. */
export const MISFIT = "spillway misfit: ";
