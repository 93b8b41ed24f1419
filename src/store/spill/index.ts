/**
 * Spill files: blocks that left memory for a disk. Has a door of its own, because it loads C code at the first spill.
 */
export { SpillLog } from "./log.ts";
export type { SpillBlock, SpillCompression, SpillPlace, SpillSettings } from "./settings.ts";
export { SpillFiles } from "./spill-files.ts";
