/**
 * What operators do with names of columns that are known only when a function has run, so that its task can check them.
 */
export interface NameUse {
  /** As the user called it. */
  readonly operator: string;
  /** Columns that must exist. */
  readonly reads: readonly string[];
  readonly drops?: readonly string[];
  /** Old and new names. */
  readonly renames?: readonly (readonly [string, string])[];
  /** Columns that are added, or that replace those with the same names. */
  readonly makes?: readonly string[];
}
