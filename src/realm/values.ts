/**
 * Tells what a value is, in any realm. Under Jest and vitest's `vmThreads` the program runs in a `vm` context with its
 * own `Date`, `Map` and `Error`, while Node's modules use those of the main context, so `instanceof` fails across them.
 * These functions look into the value itself. The fast check comes first, because some of them run for every cell.
 */
import { types } from "node:util";

export type TypedArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

export const { isAnyArrayBuffer, isArrayBuffer, isBigInt64Array, isBigUint64Array, isUint8Array } = types;

export function isTypedArray(value: unknown): value is TypedArray {
  return types.isTypedArray(value);
}

/** "Float64Array", also of a Buffer ("Uint8Array") and of subclasses. */
export function typedArrayName(array: TypedArray): string {
  return array[Symbol.toStringTag];
}

export function isDate(value: unknown): value is Date {
  return value instanceof Date || types.isDate(value);
}

export function isMap(value: unknown): value is Map<unknown, unknown> {
  return value instanceof Map || types.isMap(value);
}

export function isSet(value: unknown): value is Set<unknown> {
  return value instanceof Set || types.isSet(value);
}

export function isRegExp(value: unknown): value is RegExp {
  return value instanceof RegExp || types.isRegExp(value);
}

export function isUrl(value: unknown): value is URL {
  return value instanceof URL || tagOf(value) === "[object URL]";
}

export function isWeakRef(value: unknown): value is WeakRef<object> {
  return value instanceof WeakRef || tagOf(value) === "[object WeakRef]";
}

/**
 * A promise, or a value that can be awaited like one, such as a query builder. Runs for every row that a function
 * returns.
 */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  if (value instanceof Promise) return true;
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** Includes errors that are not V8's own: a `DOMException`, or an error that came over a socket. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value) || tagOf(value) === "[object DOMException]";
}

/** Whether it is a built-in error with this name: "RangeError". */
export function isErrorNamed(value: unknown, name: string): value is Error {
  return isError(value) && value.name === name;
}

/** The text to show for a thrown value. */
export function messageOf(thrown: unknown): string {
  return isError(thrown) ? thrown.message : String(thrown);
}

/** The code of an error of the system, such as "ENOENT". */
export function codeOf(thrown: unknown): string | null {
  return isError(thrown) && "code" in thrown && typeof thrown.code === "string" ? thrown.code : null;
}

const VALUES = new Set(
  ["Date", "Map", "Set", "Promise", "RegExp", "Error", "ArrayBuffer", "SharedArrayBuffer", "WeakMap", "WeakSet"].map(
    (name) => `[object ${name}]`,
  ),
);

/** An object with fields, of a class or not; built-in objects such as dates and maps are excluded. */
export function hasFields(value: object): boolean {
  // Nearly every row takes this path: the checks below would cost as much as the row itself.
  if (Object.getPrototypeOf(value) === Object.prototype) return true;
  return !Array.isArray(value) && !ArrayBuffer.isView(value) && !VALUES.has(tagOf(value));
}

/** An object made by `{}`, or without a prototype. */
export function isPlainObject(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || isObjectPrototype(prototype);
}

/** `Object.prototype` of this realm or another. */
function isObjectPrototype(value: object): boolean {
  return Object.getPrototypeOf(value) === null && Object.hasOwn(value, "__lookupGetter__");
}

function tagOf(value: unknown): string {
  // A Proxy would run the user's code.
  return types.isProxy(value) ? "[object Proxy]" : Object.prototype.toString.call(value);
}
