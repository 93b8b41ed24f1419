export { isItsTurn, isSomebodyAlone, makeWay, runsAlone, settleAlone } from "./alone.ts";
export { isBystander } from "./bystander.ts";
export { heapOf } from "./heap.ts";
export { pauseDeadline, reportPauses } from "./ladder.ts";
export { beginLease, reclaim, relieve, settleLease } from "./lease.ts";
export { replaceUnfit, setMemoryLimit } from "./memory-limit.ts";
export { memoryReport } from "./memory-report.ts";
export { watchNode } from "./monitor.ts";
export { isLargeEnough, lower, neededFor, raise, raisedFor, raisedStarting } from "./raised.ts";
export { containerHolds, containerSpent, heapTold, memoryRead } from "./readings.ts";
export {
  mayBeFullOfOthers,
  settleTrims,
  taskLeft,
  trimDeadline,
  trimmed,
} from "./recycle.ts";
export { addWorker, dismiss, stopping, withoutTask, workerOf } from "./workers.ts";
