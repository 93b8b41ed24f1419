export { inspectionAnswered, inspectionDied, inspectNext } from "./inspections.ts";
export { cancelJob, endFailing, jobCommitted, jobDiscarded, settleJob, startJob, tellProgress } from "./job.ts";
export { askForWays, wayPlanned } from "./other-way.ts";
export {
  startTask,
  taskDied,
  taskDone,
  taskFailed,
  taskFed,
  taskOutput,
  taskProgressed,
  taskStopped,
  tasksMeasured,
  taskTried,
} from "./tasks.ts";
