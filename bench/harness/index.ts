export type { BoxPeaks } from "./box.ts";
export { type EngineResult, type Measurement, measure, type WorkloadResult } from "./measure.ts";
export type { MemoryPeaks, Role } from "./memory.ts";
export { compilePrograms } from "./programs.ts";
export { type PeersPython, preparePython } from "./python.ts";
export { InterruptedError } from "./run.ts";
