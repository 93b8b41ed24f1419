export { firstWorkersDeadline, memoryAsked, settleFirstWorkers } from "./first-workers.ts";
export { bornInto, comingWorkers, releaseDue, workComes, workDone } from "./restarts.ts";
export {
  areStartsPaused,
  areWorkersHeldBack,
  giveUpStarting,
  hangingStarts,
  isComplete,
  isNoneLeft,
  openStarts,
  orderReplacement,
  orderWorker,
  presentWorkers,
  replenish,
  START_FAILURES,
  startDeadline,
  toldOfNoneLeft,
  workerBegins,
  workerConnected,
  workerEnded,
  workersInForce,
} from "./starts.ts";
