export { claim, giveBack, hasDevices, idleInstance, instanceGone, isFree, workerLost } from "./claims.ts";
export { DevicePool } from "./devices.ts";
