export { type MemoryGauge, ownMemory, procGauge } from "./gauge.ts";
