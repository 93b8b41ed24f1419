export { phaseFaults } from "./faults.ts";
export { JOB_MOVES, type JobPhase, moveJob } from "./job.ts";
export type { Moves } from "./moves.ts";
export { addTask, hasTasks, isWithWorker, moveTask, TASK_MOVES, type TaskPhase } from "./task.ts";
export {
  forgetOperator,
  isReady,
  knowOperator,
  moveWorker,
  settleIdle,
  WORKER_MOVES,
  type WorkerPhase,
} from "./worker.ts";
