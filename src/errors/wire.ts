/** Errors as they cross a socket: the name of the class, its fields, its stack. */
import { isError } from "../realm/index.ts";
import { CancelledError, errorClasses, SpillwayError } from "./errors.ts";
import { retold, stackText, type Told, tell } from "./told.ts";

export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly cause?: Told;
}

const HIDDEN = new Set(["name", "message", "stack", "cause"]);

export function toWire(error: unknown): WireError {
  if (!isError(error)) {
    return { name: "Error", message: String(error), stack: null, fields: {} };
  }
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(error)) {
    if (!HIDDEN.has(key) && typeof value !== "function") fields[key] = value;
  }
  // The class name, because `name` of a CancelledError is "AbortError", as in Node.
  const name = error instanceof CancelledError ? CancelledError.name : error.name;
  const cause = error.cause === undefined ? {} : { cause: tell(error.cause, (stack) => stack) };
  return { name, message: error.message, stack: stackText(error), fields, ...cause };
}

/** An error of the same class if it is one of ours, else a SpillwayError with the name. */
export function fromWire(wire: WireError): SpillwayError {
  const known = errorClasses.get(wire.name);
  const error = Object.create((known ?? SpillwayError).prototype) as SpillwayError;
  const visible = (value: unknown) => ({ value, writable: true, configurable: true, enumerable: true });
  const hidden = (value: unknown) => ({ value, writable: true, configurable: true, enumerable: false });
  Object.defineProperty(error, "message", hidden(wire.message));
  Object.defineProperty(error, "stack", hidden(wire.stack ?? `${wire.name}: ${wire.message}`));
  if (known === undefined) Object.defineProperty(error, "name", hidden(wire.name));
  if (wire.cause !== undefined) Object.defineProperty(error, "cause", hidden(retold(wire.cause)));
  for (const [key, value] of Object.entries(wire.fields)) Object.defineProperty(error, key, visible(value));
  return error;
}
