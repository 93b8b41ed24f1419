export { failJob, isFailing, isGoingOn } from "./failing.ts";
export { phaseFaults } from "./faults.ts";
export { addInspection, inspectAgain, nextInspection, takeInspections } from "./inspections.ts";
export { addJob, JOB_MOVES, moveJob, takeFailing } from "./job.ts";
export type { Moves } from "./moves.ts";
export { addTask, asksForRoom, hasTasks, isWithWorker, moveTask, TASK_MOVES } from "./task.ts";
export { moveWay } from "./way.ts";
export {
  classRan,
  forgetOperator,
  forgetOperators,
  instanceRetired,
  instanceRetires,
  knowOperator,
  moveWorker,
  settleIdle,
  WORKER_MOVES,
  workerCame,
  workerLeft,
} from "./worker.ts";
