/** Sessions: starting the processes, and the program's end of them. */

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
export type { SessionOptions, Size } from "./options.ts";
export { Session, session } from "./session.ts";
