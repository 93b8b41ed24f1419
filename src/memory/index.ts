export { type MemoryGauge, ownMemory, procGauge } from "./gauge.ts";
export { firstLease, kernelLease, type MemoryPool, squeezed } from "./lease.ts";
export { nodeMemory, type ReadText } from "./limits.ts";
export {
  automaticLimit,
  extraWorkersThatFit,
  fixedShares,
  heapThatFits,
  kernelThatFits,
  type Node,
  workersThatFit,
} from "./shares.ts";
