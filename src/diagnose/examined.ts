/** A job as rules see it, made of its figures. */
import type { Bytes, JobStats, Milliseconds, OperatorId, OperatorKind, OperatorStats } from "../protocol/index.ts";
import { operatorTitle } from "../titles/index.ts";

export interface ExaminedJob {
  readonly duration: Milliseconds;
  readonly workers: number;
  /** Memory limit of one worker; null: none. */
  readonly workerLimit: Bytes | null;
  /** Of the store. */
  readonly capacity: Bytes;
  /** Bytes of blocks that were made, written to disk and read back. */
  readonly madeBytes: Bytes;
  readonly spilledBytes: Bytes;
  readonly restoredBytes: Bytes;
  /** The most that one worker has kept that is neither blocks nor known worker data. */
  readonly peakUnmanaged: Bytes;
  /** The most that this has grown since the first half of the job; null: the job is too short. */
  readonly grownUnmanaged: Bytes | null;
  readonly operators: readonly ExaminedOperator[];
}

export interface ExaminedOperator extends OperatorKind {
  readonly id: OperatorId;
  /** With its functions: `range->map(addTax)`. */
  readonly name: string;
  readonly tasks: number;
  readonly tasksDone: number;
  readonly retries: number;
  readonly oomRetries: number;
  /** From the start of its first task to the end of its last one. */
  readonly duration: Milliseconds;
  /** Of its tasks that are done: together, and the longest. */
  readonly wall: Milliseconds;
  readonly longest: Milliseconds;
  readonly cpu: Milliseconds;
  readonly rowsIn: number;
  readonly rowsOut: number;
  /** Of one task. */
  readonly mostRows: number;
  readonly bytesOut: Bytes;
  readonly blocks: number;
  /** Private memory of a worker at most, while it ran a task of the operator; and the most that a task added to it. */
  readonly peakMemory: Bytes;
  readonly addedMemory: Bytes;
  /** By policy. */
  readonly heldBack: Readonly<Record<string, Milliseconds>>;
}

export function fromStats(stats: JobStats): ExaminedJob {
  const { workers, memory, spilledBytes, restoredBytes, peakUnmanaged, grownUnmanaged, operators } = stats;
  const ofStats = operators.map(fromOperator);
  return {
    duration: stats.seconds * 1000,
    workers,
    workerLimit: memory.workerLimit,
    capacity: memory.capacity,
    madeBytes: ofStats.reduce((sum, { blocks, bytesOut }) => sum + (blocks > 0 ? bytesOut : 0), 0),
    spilledBytes,
    restoredBytes,
    peakUnmanaged,
    grownUnmanaged,
    operators: ofStats,
  };
}

function fromOperator(stats: OperatorStats): ExaminedOperator {
  const { id, name, kind, tasks, tasksDone, retries, oomRetries, rowsIn, blocks } = stats;
  return {
    ...kind,
    id,
    name: operatorTitle(name, kind.functions),
    tasks,
    tasksDone,
    retries,
    oomRetries,
    duration: stats.seconds * 1000,
    wall: stats.wall.total,
    longest: stats.wall.max,
    cpu: stats.cpu.total,
    rowsIn,
    rowsOut: stats.rowsOut.total,
    mostRows: stats.rowsOut.max,
    bytesOut: stats.bytesOut.total,
    blocks,
    peakMemory: stats.peakMemory,
    addedMemory: stats.addedMemory,
    heldBack: Object.fromEntries(Object.entries(stats.heldBack).map(([policy, seconds]) => [policy, seconds * 1000])),
  };
}
