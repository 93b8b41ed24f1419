/**
 * The names of the right's columns next to the left's, each with the column's own name. Null if the columns are not
 * known.
 */
import { besideNames } from "../protocol/index.ts";
import { columnsOf } from "./columns.ts";
import type { JoinNode } from "./nodes/join.ts";
import type { ZipNode } from "./nodes/zip.ts";

export function rightNames(plan: JoinNode | ZipNode): ReadonlyMap<string, string> | null {
  const taken = columnsOf(plan.left);
  const own = columnsOf(plan.right);
  if (taken === null || own === null) return null;
  const keys = plan.kind === "join" ? plan.rightOn : [];
  const names = own.filter((name) => !keys.includes(name));
  const beside = besideNames(taken, plan.suffix);
  return new Map(names.map((name) => [beside(name), name]));
}
