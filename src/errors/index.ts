export * from "./errors.ts";
export { isMemoryRefused } from "./refused-memory.ts";
export { fromWire, toWire, type WireError } from "./wire.ts";
