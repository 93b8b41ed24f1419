export { bornInto, comingWorkers, releaseDue, workComes, workDone } from "./restarts.ts";
export {
  areStartsPaused,
  areWorkersHeldBack,
  isComplete,
  isNoneLeft,
  openStarts,
  orderReplacement,
  orderWorker,
  presentWorkers,
  replenish,
  START_FAILURES,
  startDeadline,
  workerBegins,
  workerConnected,
  workerEnded,
} from "./starts.ts";
