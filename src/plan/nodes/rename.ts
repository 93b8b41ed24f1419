/** Gives columns other names, in place. */
import type { Plan } from "../plan.ts";

export interface RenameNode {
  readonly kind: "rename";
  readonly input: Plan;
  /** Old name to new name. */
  readonly names: ReadonlyMap<string, string>;
}

export function rename(input: Plan, names: ReadonlyMap<string, string>): RenameNode {
  return Object.freeze({ kind: "rename", input, names });
}
