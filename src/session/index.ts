/** Sessions: starting the processes, and the program's end of them. */

export type { BlockMove, ResourceAmounts, SessionResources, WorkerUse } from "../protocol/index.ts";
export type { Preset } from "./block-sizes.ts";
export {
  configure,
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
export type { ResourceLimits, Size } from "./limits.ts";
export type { SessionOptions } from "./options.ts";
export { Session, session } from "./session.ts";
export type { Allocator } from "./worker-environment.ts";
