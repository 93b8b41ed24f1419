/** Spill files: blocks that left memory for a disk. A door of its own, because it loads C code at the first spill. */
export { SpillLog } from "./log.ts";
export type {
  SpillBlock,
  SpillCompression,
  SpillPlace,
  SpillSettings,
  SpillUsage,
  SpillWritten,
} from "./settings.ts";
export { SpillFiles } from "./spill-files.ts";
