export { type Arena, arenaName, createArena, removeArena, SHARED_MEMORY } from "./arena.ts";
export type { BlockState, Holder } from "./entry.ts";
export { Ledger } from "./ledger.ts";
export type { RestoreOrder, SpillOrder, SpillPlace } from "./place.ts";
export { type Allocation, PAGE, RangeAllocator, wholePages } from "./ranges.ts";
export type { SpillTotals } from "./residency.ts";
