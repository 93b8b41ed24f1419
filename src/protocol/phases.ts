/**
 * Where tasks, workers, jobs and blocks stand, in the words that every process uses. What moves them is the
 * scheduler's.
 */

/**
 * - unplaced: in no set. It was formed, or has left its worker, and gets its place within the same event.
 * - waiting: for a worker.
 * - fetching: some of the blocks that it reads are on disk, or on their way from there.
 * - aside: it stood back for another task, and waits for the end of that.
 * - resting: it ran out of memory, and waits a while before it is run again.
 * - running: a worker has it.
 * - asking: a worker has it, and it waits for room in the store.
 * - cancelling: a worker has it, and was asked to end it.
 * - killing: the worker did not answer in time, and is being killed.
 * - over: it is done, has failed, or is not wanted any more.
 */
export type TaskPhase =
  | "unplaced"
  | "waiting"
  | "fetching"
  | "aside"
  | "resting"
  | "running"
  | "asking"
  | "cancelling"
  | "killing"
  | "over";

/**
 * - starting: its process has been started and has not connected yet.
 * - idle: it has neither a task nor a question.
 * - busy: it has a task.
 * - inspecting: it answers a question about files or SQL.
 * - stopping: it was told to end, is being killed, or has died; it is given nothing more.
 */
export type WorkerPhase = "starting" | "idle" | "busy" | "inspecting" | "stopping";

/**
 * - running: its operators have something to do, or the program has something to take.
 * - committing: all tasks are done, and the files that they wrote are moved to their place.
 * - stopping: nothing of it is wanted any more, and its tasks end.
 * - discarding: it has failed or was cancelled, and the files that its tasks wrote are removed.
 * - gone: it holds nothing.
 */
export type JobPhase = "running" | "committing" | "stopping" | "discarding" | "gone";

/** A block's life is drawn above `src/store/ledger.ts`. */
export type BlockState = "resident" | "spilling" | "spilled" | "restoring" | "lost";
