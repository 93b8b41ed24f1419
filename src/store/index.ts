/**
 * The store: the arena's file, the ledger of blocks, and where blocks go. Code that loads C libraries has doors of its
 * own.
 */
export { type Arena, arenaName, createArena, removeArena, SHARED_MEMORY } from "./arena.ts";
export type { Holder } from "./entry.ts";
export type { BlockWatch } from "./held-blocks.ts";
export { Ledger } from "./ledger.ts";
export type { MappedArena } from "./mapping.ts";
export type { RestoreOrder, SpillOrder, SpillPlace } from "./place.ts";
export { PAGE, RangeAllocator, wholePages } from "./ranges.ts";
export { SpillLog } from "./spill/log.ts";
export type { SpillFiles } from "./spill/spill-files.ts";
