export { type MemoryGauge, ownMemory, procGauge } from "./gauge.ts";
export { nodeMemory, type ReadText } from "./limits.ts";
export { extraWorkersThatFit, heapThatFits, workersThatFit } from "./shares.ts";
