export { type Birth, bornInto, comingWorkers, releaseDue, workComes, workDone } from "./restarts.ts";
export {
  areStartsPaused,
  isComplete,
  isNoneLeft,
  noStarts,
  openStarts,
  orderReplacement,
  orderWorker,
  presentWorkers,
  replenish,
  START_FAILURES,
  startDeadline,
  type WorkerStarts,
  workerBegins,
  workerConnected,
  workerEnded,
} from "./starts.ts";
