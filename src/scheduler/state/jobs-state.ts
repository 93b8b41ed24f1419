/** What the room `jobs` keeps and alone writes: what the program was told of a job, what operators have come to,
 * and a task's present attempt. */
import type { Bytes, LearnedNeed, Milliseconds, TaskProgress, WrittenFile } from "../../protocol/index.ts";
import type { TaskState } from "./task-state.ts";

export interface JobReport {
  /** Something has happened since progress was last told. */
  changed: boolean;
  progressAt: Milliseconds;
  /** The program has been told how the job ended, or no longer wants to know. */
  told: boolean;
  erroredTasks: number;
  /** Tasks with progress that observers have not been told yet. */
  readonly progressed: Set<TaskState>;
}

export function newJobReport(now: Milliseconds): JobReport {
  return { changed: false, progressAt: now, told: false, erroredTasks: 0, progressed: new Set() };
}

/** What the tasks of an operator have come to, apart from blocks. */
export interface OperatorResult {
  rows: number;
  readonly files: WrittenFile[];
}

export interface TaskRun {
  /**
   * The need of its present attempt, and when the attempt began. The batch size stays once the task has handed a block
   * over.
   */
  need: LearnedNeed | null;
  /** The largest block that it makes; null: as the operator says. It stays, as the batch size does. */
  blockBytes: Bytes | null;
  startedAt: Milliseconds;
  /** Its worker's memory then; null: never measured. */
  startedWith: Bytes | null;
  /** What the attempt has done so far; null: it has not told. */
  progress: TaskProgress | null;
}

export function newTaskRun(need: LearnedNeed | null, blockBytes: Bytes | null): TaskRun {
  return { need, blockBytes, startedAt: 0, startedWith: null, progress: null };
}
