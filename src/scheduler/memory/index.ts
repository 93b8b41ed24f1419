export { isItsTurn, isSomebodyAlone, makeWay, runsAlone, settleAlone } from "./alone.ts";
export { isBystander } from "./bystander.ts";
export { addedBy, hasMemory, isScarceFor, mayTry, mostFor, trimForRoom } from "./forecast.ts";
export { heapOf } from "./heap.ts";
export { kernelHolds } from "./kernel-use.ts";
export { pauseDeadline, reportPauses } from "./ladder.ts";
export { attemptAfter, beginLease, reclaim, settleLease } from "./lease.ts";
export { replaceUnfit, setMemoryLimit } from "./memory-limit.ts";
export { memoryReport } from "./memory-report.ts";
export { nextVictim, watchNode } from "./monitor.ts";
export { firstBatchTook, settleTrials, taskBegins, taskHas, taskTookAndLeft } from "./own.ts";
export { answerProgram, failIfProgramHoldsAll, isProgramWaiting, programHolds } from "./program-memory.ts";
export { isLargeEnough, lower, neededFor, raise, raisedFor, raisedStarting } from "./raised.ts";
export { cannotEvict, heapTold, memoryRead, workerDataHolds } from "./readings.ts";
export {
  mayBeFullOfOthers,
  settleTrims,
  taskLeft,
  trimDeadline,
  trimmed,
} from "./recycle.ts";
export { liftLimit, limitsGiven, nodeShare, settleAllotment, settleShare } from "./share.ts";
export { addWorker, dismiss, forgetWorker, stopping, withoutTask, workerOf } from "./workers.ts";
