export { type Arena, arenaName, createArena, removeArena, SHARED_MEMORY } from "./arena.ts";
export { type Holder, Ledger } from "./ledger.ts";
export { type Allocation, PAGE, RangeAllocator, wholePages } from "./ranges.ts";
