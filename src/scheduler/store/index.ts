export { collected, collectForProgram, mayCollectSince } from "./collect.ts";
export { pressingBytes, thresholdsOf, useOf } from "./pressure.ts";
export { rebalance } from "./rebalance.ts";
export { restore, restoreDamaged, restoreDone, restoreFailed } from "./restores.ts";
export {
  availableRoom,
  blocksNotSpilled,
  blocksSpilled,
  diskDeadline,
  forgetRefusal,
  type Leaving,
  makeRoom,
  mayAskToEvict,
  spillAny,
  spillBeyond,
  spillCold,
  spillOverTarget,
  spillUnderPressure,
} from "./spill.ts";
export { forgetReservedRoom, takeRoom } from "./taking.ts";
