export { differences } from "./answers.ts";
export type { BoxPeaks } from "./box.ts";
export { commandFor } from "./engines.ts";
export { answerOf, type EngineResult, type Measurement, measure, type WorkloadResult } from "./measure.ts";
export type { MemoryPeaks, Role } from "./memory.ts";
export { compilePrograms } from "./programs.ts";
export { type OwnPython, preparePython } from "./python.ts";
export { InterruptedError, type Run, run } from "./run.ts";
