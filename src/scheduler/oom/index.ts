export { deathDetails, deathError, diedEvent, exitTypeOf } from "./deaths.ts";
export { countCrash, endResting, kernelLimitOf, leaseAlone, oomCause, ranOutOfMemory, restDeadline } from "./oom.ts";
export { cannotStart, failIfNoneIsLeft, workersDoNotStart } from "./unavailable.ts";
