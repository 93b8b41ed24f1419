/** The store: the arena's file, the ledger of blocks, and where they go. What loads C code has a door of its own. */
export { type Arena, arenaName, createArena, removeArena, SHARED_MEMORY } from "./arena.ts";
export type { Holder } from "./entry.ts";
export { type BlockWatch, Ledger } from "./ledger.ts";
export type { MappedArena } from "./mapping.ts";
export type { RestoreOrder, SpillOrder, SpillPlace } from "./place.ts";
export { type Allocation, PAGE, RangeAllocator, wholePages } from "./ranges.ts";
export type { SpillTotals } from "./residency.ts";
export { SpillLog } from "./spill/log.ts";
export type { SpillCompression } from "./spill/settings.ts";
export type { SpillFiles } from "./spill/spill-files.ts";
