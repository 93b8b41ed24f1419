/** Errors as they cross a socket: the class by name, its fields, its stack. */
import { errorClasses, SpillwayError } from "./errors.ts";

export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
}

const HIDDEN = new Set(["name", "message", "stack", "cause"]);

export function toWire(error: unknown): WireError {
  if (!(error instanceof Error)) {
    return { name: "Error", message: String(error), stack: null, fields: {} };
  }
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(error)) {
    if (!HIDDEN.has(key) && typeof value !== "function") fields[key] = value;
  }
  return { name: error.name, message: error.message, stack: error.stack ?? null, fields };
}

/** The same class again where it is one of ours, else a SpillwayError that keeps the name. */
export function fromWire(wire: WireError): SpillwayError {
  const known = errorClasses.get(wire.name);
  const error = Object.create((known ?? SpillwayError).prototype) as SpillwayError;
  const visible = (value: unknown) => ({ value, writable: true, configurable: true, enumerable: true });
  const hidden = (value: unknown) => ({ value, writable: true, configurable: true, enumerable: false });
  Object.defineProperty(error, "message", hidden(wire.message));
  Object.defineProperty(error, "stack", hidden(wire.stack ?? `${wire.name}: ${wire.message}`));
  if (known === undefined) Object.defineProperty(error, "name", hidden(wire.name));
  for (const [key, value] of Object.entries(wire.fields)) Object.defineProperty(error, key, visible(value));
  return error;
}
