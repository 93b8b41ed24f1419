/** Sessions: starting the processes, and the program's connection to them. */

export type { Duration, Preset, ResourceLimits, SessionOptions, Size, WorkerOptions } from "../config/index.ts";
export type {
  BlockMove,
  LearnedNeed,
  MemoryColour,
  MemoryKinds,
  NodeMemory,
  Pressure,
  ProcessMemory,
  ResourceAmounts,
  SessionEvent,
  SessionMemory,
  SessionResources,
  TimedEvent,
  TrimReport,
  WorkerMemory,
  WorkerUse,
} from "../protocol/index.ts";
export {
  configure,
  defaultSession,
  fromArrow,
  fromItems,
  range,
  readArrow,
  readBinary,
  readCsv,
  readJson,
  readParquet,
  readText,
} from "./default.ts";
export type { Rebalanced } from "./engine.ts";
export type { Trimmed, WorkerValue } from "./every-worker.ts";
export type { MemoryPlan } from "./memory-plan.ts";
export { Session, session } from "./session.ts";
