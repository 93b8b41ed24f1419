export * from "./ends.ts";
export * from "./errors.ts";
export { fileFault, isKnownFault, withoutOwnSql } from "./kernel-words.ts";
export { endedForMemory, isKernelRefused, isMemoryRefused, wasRefusedBelowHeap } from "./refused-memory.ts";
export { causeLines, retold, type Told, tell } from "./told.ts";
export { fromWire, toWire, type WireError } from "./wire.ts";
