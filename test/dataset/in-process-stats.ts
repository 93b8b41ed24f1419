/** Figures that the engine without processes invents: one task, one millisecond, the rows that there were. */
import { type JobStats, NO_MEMORY_YET, type Operator, type OperatorStats } from "../../src/protocol/index.ts";
import { operatorStats } from "../support/figures.ts";

const spread = (total: number) => ({ min: total, max: total, mean: total, total });

export function statsOf(operator: Operator, rows: number): OperatorStats {
  const tasks = operator.kind === "tasks" && operator.input.kind === "splits" ? operator.input.splits.length : 1;
  return operatorStats({
    id: operator.id,
    name: operator.name,
    tasks,
    tasksDone: tasks,
    seconds: 0.001,
    blocks: tasks,
    rowsIn: rows,
    rowsOut: spread(rows),
    wall: spread(1),
    cpu: spread(1),
    ...(operator.kind === "tasks" && { skipped: operator.skipped }),
  });
}

export function jobStats(operators: readonly OperatorStats[]): JobStats {
  const memory = { workers: 0, limit: null, workerLimit: null, store: 0, capacity: 0, onDisk: 0 };
  return { operators, memory, seconds: 0.1, workers: 2, ...NO_MEMORY_YET };
}
