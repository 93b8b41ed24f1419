export { collected, mayCollectSince } from "./collect.ts";
export { pressingBytes, thresholdsOf, useOf } from "./pressure.ts";
export { rebalance } from "./rebalance.ts";
export {
  availableRoom,
  blocksNotSpilled,
  blocksSpilled,
  diskDeadline,
  diskRefused,
  type Leaving,
  makeRoom,
  spillCold,
  spillOverTarget,
  spillUnderPressure,
} from "./spill.ts";
