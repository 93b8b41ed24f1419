/** The figures of several runs as those of one: work is summed, peaks are the highest. */
import { type JobStats, mostGrown, type OperatorStats, type Spread } from "../../protocol/index.ts";

export function summed(before: JobStats | null, next: JobStats): JobStats {
  if (before === null) return next;
  return {
    operators: operatorsOf(before.operators, next.operators),
    seconds: before.seconds + next.seconds,
    workers: next.workers,
    memory: next.memory,
    peakWorkerMemory: Math.max(before.peakWorkerMemory, next.peakWorkerMemory),
    peakSupervisorMemory: Math.max(before.peakSupervisorMemory, next.peakSupervisorMemory),
    peakProgramMemory: Math.max(before.peakProgramMemory, next.peakProgramMemory),
    peakUnmanaged: Math.max(before.peakUnmanaged, next.peakUnmanaged),
    grownUnmanaged: mostGrown([before.grownUnmanaged, next.grownUnmanaged]),
    peakStoreBytes: Math.max(before.peakStoreBytes, next.peakStoreBytes),
    spilledBytes: before.spilledBytes + next.spilledBytes,
    restoredBytes: before.restoredBytes + next.restoredBytes,
  };
}

/** Windows run the same operators, unless a function of the user made a different plan for one of them. */
function operatorsOf(before: readonly OperatorStats[], next: readonly OperatorStats[]): readonly OperatorStats[] {
  const all = [...before];
  for (const operator of next) {
    const at = all.findIndex(({ id, name }) => id === operator.id && name === operator.name);
    const known = all[at];
    if (known === undefined) all.push(operator);
    else all[at] = bothOperators(known, operator);
  }
  return all;
}

function bothOperators(a: OperatorStats, b: OperatorStats): OperatorStats {
  const spread = (of: (operator: OperatorStats) => Spread) => bothSpreads(of(a), a.tasksDone, of(b), b.tasksDone);
  return {
    id: a.id,
    name: a.name,
    kind: b.kind,
    tasks: a.tasks + b.tasks,
    tasksDone: a.tasksDone + b.tasksDone,
    tasksRunning: b.tasksRunning,
    share: b.share,
    seconds: a.seconds + b.seconds,
    retries: a.retries + b.retries,
    oomRetries: a.oomRetries + b.oomRetries,
    learned: b.learned ?? a.learned,
    appetite: b.appetite ?? a.appetite,
    blocks: a.blocks + b.blocks,
    rowsIn: a.rowsIn + b.rowsIn,
    rowsOut: spread(({ rowsOut }) => rowsOut),
    bytesOut: spread(({ bytesOut }) => bytesOut),
    wall: spread(({ wall }) => wall),
    cpu: spread(({ cpu }) => cpu),
    errored: a.errored + b.errored,
    peakMemory: Math.max(a.peakMemory, b.peakMemory),
    addedMemory: Math.max(a.addedMemory, b.addedMemory),
    spilledBytes: a.spilledBytes + b.spilledBytes,
    restoredBytes: a.restoredBytes + b.restoredBytes,
    heldBy: b.heldBy,
    heldBack: bothTimes(a.heldBack, b.heldBack),
    skipped: {
      files: a.skipped.files + b.skipped.files,
      rowGroups: a.skipped.rowGroups + b.skipped.rowGroups,
      rows: a.skipped.rows + b.skipped.rows,
      columns: Math.max(a.skipped.columns, b.skipped.columns),
    },
  };
}

function bothSpreads(a: Spread, countA: number, b: Spread, countB: number): Spread {
  if (countA === 0 && a.total === 0) return b;
  if (countB === 0 && b.total === 0) return a;
  const total = a.total + b.total;
  // Operators without tasks (limits) still pass rows on: each of their runs counts as one task.
  const mean = total / (Math.max(1, countA) + Math.max(1, countB));
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max), mean, total };
}

function bothTimes(a: OperatorStats["heldBack"], b: OperatorStats["heldBack"]): OperatorStats["heldBack"] {
  const times: Record<string, number> = { ...a };
  for (const [policy, seconds] of Object.entries(b)) times[policy] = (times[policy] ?? 0) + seconds;
  return times;
}
