/**
 * How many partitions a plan's rows come in: from the plan if it determines that, otherwise by running the plan and
 * counting blocks.
 */
import { optimise, type Plan, type ScanNode } from "../../plan/index.ts";
import { resolved } from "../run.ts";
import { blocksOf, type Run } from "./blocks.ts";
import { countByMetadata } from "./count.ts";

export async function countPartitions(run: Run): Promise<number> {
  const known = await partitionsOf(optimise(await resolved(run.engine, run.plan, run.cancellation)));
  if (known !== null) return known;
  let blocks = 0;
  for await (const block of blocksOf(run)) {
    block.release();
    blocks++;
  }
  return blocks;
}

async function partitionsOf(plan: Plan): Promise<number | null> {
  switch (plan.kind) {
    case "scan":
      return readTasks(plan);
    case "project":
    case "drop":
    case "rename":
    case "dropNull":
    case "filter":
    case "explode":
      return partitionsOf(plan.input);
    case "function":
      return plan.form === "mapGroups" ? null : partitionsOf(plan.input);
    case "sample":
      return plan.size.kind === "fraction" ? partitionsOf(plan.input) : null;
    case "union": {
      let total = 0;
      for (const input of plan.inputs) {
        const own = await partitionsOf(input);
        if (own === null) return null;
        total += own;
      }
      return total;
    }
    case "repartition": {
      const { into } = plan;
      if (into.kind === "parts") return into.count;
      if (into.kind === "keys") return into.count;
      const rows = into.kind === "rows" ? await countByMetadata(plan.input) : null;
      return rows === null || into.kind !== "rows" ? null : Math.ceil(rows / into.rows);
    }
    default:
      return null;
  }
}

/** Each block that is already in the store counts as a partition, even if a task reads several of them. */
async function readTasks({ open, columns, filters, samples, limit }: ScanNode): Promise<number | null> {
  if (open === null) return null;
  if (filters.length === 0 && samples.length === 0 && limit === null) return (await open.cut()).sizes.length;
  const { splits, parts } = await open.splits({ columns, filters, samples, limit });
  return parts === undefined ? splits.length : parts.reduce((sum, part) => sum + part.splits.length, 0);
}
