export * from "./errors.ts";
export { fromWire, toWire, type WireError } from "./wire.ts";
