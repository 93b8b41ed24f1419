export { deathDetails, deathError, diedEvent, exitTypeOf, peakOf } from "./deaths.ts";
export { endResting, kernelLimitOf, leaseAlone, oomCause, ranOutOfMemory, restDeadline } from "./oom.ts";
export { cannotStart, failIfNoneIsLeft, workersDoNotStart } from "./unavailable.ts";
