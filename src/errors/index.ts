export * from "./ends.ts";
export * from "./errors.ts";
export { fileFault, isKnownFault, withoutOwnSql } from "./kernel-words.ts";
export { isMemoryRefused } from "./refused-memory.ts";
export { causeLines, retold, type Told, type ToldError, tell } from "./told.ts";
export { fromWire, toWire, type WireError } from "./wire.ts";
