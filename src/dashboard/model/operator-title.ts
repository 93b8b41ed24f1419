/** An operator's name on all pages. */
import type { OperatorPlan } from "../../protocol/index.ts";
import { operatorTitle } from "../../titles/index.ts";

export function titleOf({ name, recipe }: OperatorPlan): string {
  return operatorTitle(name, recipe?.functions ?? []);
}
