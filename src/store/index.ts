export { type Arena, arenaName, createArena, removeArena, SHARED_MEMORY } from "./arena.ts";
export type { BlockState, Holder } from "./entry.ts";
export { Ledger, type RestoreOrder, type SpillOrder, type SpillTotals } from "./ledger.ts";
export type { SpillPlace } from "./place.ts";
export { type Allocation, PAGE, RangeAllocator, wholePages } from "./ranges.ts";
