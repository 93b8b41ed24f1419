/** Sessions: starting the processes, and the program's end of them. */

export type { Duration, Preset, ResourceLimits, SessionOptions, Size, WorkerOptions } from "../config/index.ts";
export type { ResourceAmounts, SessionResources, WorkerUse } from "../protocol/index.ts";
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
export { Session, session } from "./session.ts";
