export { claim, giveBack, hasDevices, idleInstance, instanceGone, isFree, workerLost } from "./claims.ts";
