/** The number of rows: from metadata if no operator can drop or add rows, otherwise by a job that only counts. */
import { forItsRows, optimise, type Plan } from "../../plan/index.ts";
import { resolved, runToEnd } from "../run.ts";
import type { Run } from "./blocks.ts";

export async function countRows(run: Run): Promise<number> {
  run.engine.checkOpen();
  const plan = optimise(await resolved(run.engine, run.plan, run.cancellation));
  const known = await countByMetadata(plan);
  if (known !== null) return known;
  // The count of a bare source needs none of its columns, and there may be thousands.
  const counted = plan.kind === "scan" && plan.filters.length === 0 ? forItsRows(plan) : sameRows(run.plan);
  const { rows, stats } = await runToEnd(run.engine, counted, () => ({ kind: "count" }), run);
  run.ended(stats);
  return rows;
}

/** The plan without operators that only reorder or repartition the rows: their number stays the same. */
function sameRows(plan: Plan): Plan {
  return plan.kind === "sort" || plan.kind === "shuffle" || plan.kind === "repartition" ? sameRows(plan.input) : plan;
}

export async function countByMetadata(plan: Plan): Promise<number | null> {
  switch (plan.kind) {
    case "scan":
      return plan.filters.length === 0 && plan.samples.length === 0 ? ((await plan.open?.countRows()) ?? null) : null;
    case "project":
    case "window":
    case "drop":
    case "rename":
    case "sort":
    case "shuffle":
    case "repartition":
      return countByMetadata(plan.input);
    case "aggregate":
      return plan.keys.length === 0 ? 1 : null;
    case "limit": {
      if (plan.limit === 0) return 0;
      const rows = await countByMetadata(plan.input);
      if (rows === null) return null;
      const left = Math.max(0, rows - plan.offset);
      return plan.limit === null ? left : Math.min(left, plan.limit);
    }
    case "union": {
      let total = 0;
      for (const input of plan.inputs) {
        const rows = await countByMetadata(input);
        if (rows === null) return null;
        total += rows;
      }
      return total;
    }
    default:
      return null;
  }
}
