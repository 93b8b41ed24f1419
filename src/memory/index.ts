export {
  type Allotment,
  type AllotmentPlan,
  allot,
  LEAST_WORKER,
  leastMemory,
} from "./allotment.ts";
export { collectGarbage } from "./collect-garbage.ts";
export { colourOf, SPILLED_COLOUR } from "./colours.ts";
export { gaugeOver, type MemoryGauge, procGauge } from "./gauge.ts";
export { groupThatEndsTogether } from "./group-kill.ts";
export { kindsOf, LeastOverTime, type MemoryUse, managedOf, processOf } from "./kinds.ts";
export { climb, GROUND, type Standing, spillsUntil } from "./ladder.ts";
export { firstLease, kernelLease, leaseBeside, type MemoryPool, PROCESS } from "./lease.ts";
export { nodeMemory } from "./limits.ts";
export { nodeKey } from "./node-key.ts";
export { fairShares, grantOf, refusal, type SessionOnNode } from "./node-shares.ts";
export type { OomKills } from "./oom-kills.ts";
export { ownMemory } from "./own-memory.ts";
export { OwnPeak } from "./own-peak.ts";
export { type MemoryPlanFigures, planFigures, planRows } from "./plan.ts";
export { allProcesses, childrenOf, listsChildren, STAT, statFields } from "./processes.ts";
export {
  automaticLimit,
  extraWorkersThatFit,
  fixedShares,
  heapFor,
  heapThatFits,
  kernelThatFits,
  type Node,
  workersThatFit,
} from "./shares.ts";
export { type ReadText, type SystemFiles, systemFiles } from "./system-files.ts";
export { FIRST_ATTEMPT, leaseFor, mayHaveAll, nextAttempt, type WideAttempt, type WideEnd } from "./wide-attempt.ts";
