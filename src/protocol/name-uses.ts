/**
 * What operators do with names of columns that are known only when a function has run, so that its task checks them.
 */
export interface NameUse {
  /** As the user called it. */
  readonly operator: string;
  /** Columns that must be there. */
  readonly reads: readonly string[];
  readonly drops?: readonly string[];
  /** Old and new names. */
  readonly renames?: readonly (readonly [string, string])[];
  /** Columns that come to the others, or in the place of those of the same names. */
  readonly makes?: readonly string[];
}
