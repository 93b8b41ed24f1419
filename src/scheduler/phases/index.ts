export { phaseFaults } from "./faults.ts";
export { JOB_MOVES, moveJob } from "./job.ts";
export type { Moves } from "./moves.ts";
export { addTask, hasTasks, isWithWorker, moveTask, TASK_MOVES } from "./task.ts";
export {
  forgetOperator,
  isReady,
  knowOperator,
  moveWorker,
  settleIdle,
  WORKER_MOVES,
} from "./worker.ts";
