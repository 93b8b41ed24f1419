/** What the SQL over files says of a value that its column's type cannot hold, for whoever looks for the line. */
import type { Dialect } from "./dialect.ts";

export interface Misfit {
  readonly operator: string;
  readonly column: string;
  /** The place of the column in its file. */
  readonly index: number;
  readonly type: string;
  /** The type was given, not found. */
  readonly declared: boolean;
  /** "json": a value stands in a line of its own row. Null: of a file without lines. */
  readonly dialect: Dialect | "json" | null;
}

/** Before a Misfit, a line break, and `{"file", "text"}` as JSON. */
export const MISFIT = "spillway misfit: ";
