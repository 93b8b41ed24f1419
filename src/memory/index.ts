export { type MemoryGauge, ownMemory, procGauge } from "./gauge.ts";
export { firstLease, kernelLease, type MemoryPool, squeezed } from "./lease.ts";
export { nodeMemory, type ReadText } from "./limits.ts";
export { extraWorkersThatFit, fixedShares, heapThatFits, kernelThatFits, workersThatFit } from "./shares.ts";
