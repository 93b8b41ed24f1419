/**
 * What a session will need of the machine's memory at most, before it runs: each execution slot holds the block that it
 * makes.
 */
import { type MemoryPlanFigures, nodeMemory, planFigures, planRows } from "../memory/index.ts";
import type { ResolvedOptions } from "./options.ts";

export interface MemoryPlan extends MemoryPlanFigures {
  /** The plan in words. */
  toString(): string;
}

export function memoryPlan({ workers, targetMaxBlockSize, capacity, workerMemory }: ResolvedOptions): MemoryPlan {
  const plan = planFigures({
    ...{ workers, capacity, workerMemory },
    maxBlockSize: targetMaxBlockSize,
    nodeMemory: nodeMemory(),
  });
  const lines = () => planRows(plan).map(([name, value]) => `${name}: ${value}`);
  return { ...plan, toString: () => lines().join("\n") };
}
