/** The Arrow type that a JavaScript value stands for. Nulls leave a type open: the null type, until a value decides. */
import type { DataType, Field, IntType } from "../types.ts";

const int = (bits: 8 | 16 | 32 | 64, signed: boolean): IntType => ({ kind: "int", bits, signed });
const FLOAT64: DataType = { kind: "float", bits: 64 };
const NULL: DataType = { kind: "null" };

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

export function isTypedArray(value: unknown): value is TypedArray {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** A typed array whose elements are numbers, not bigints. */
export function isNumbers(value: unknown): value is Exclude<TypedArray, BigInt64Array | BigUint64Array> {
  return isTypedArray(value) && !(value instanceof BigInt64Array || value instanceof BigUint64Array);
}

/** The type of a typed array's elements. */
export function elementType(array: TypedArray): DataType {
  if (array instanceof Float64Array) return FLOAT64;
  if (array instanceof Float32Array) return { kind: "float", bits: 32 };
  if (array instanceof Int32Array) return int(32, true);
  if (array instanceof Uint32Array) return int(32, false);
  if (array instanceof Int16Array) return int(16, true);
  if (array instanceof Uint16Array) return int(16, false);
  if (array instanceof Int8Array) return int(8, true);
  if (array instanceof BigInt64Array) return int(64, true);
  if (array instanceof BigUint64Array) return int(64, false);
  return int(8, false);
}

/** A value of no Arrow type (a function, a promise, a Set, …) gives null. */
export function inferType(value: unknown): DataType | null {
  switch (typeof value) {
    case "number":
      return FLOAT64;
    case "bigint":
      return int(64, true);
    case "string":
      return { kind: "utf8", large: false };
    case "boolean":
      return { kind: "bool" };
    case "undefined":
      return NULL;
    case "object":
      return value === null ? NULL : inferObject(value);
    default:
      return null;
  }
}

function inferObject(value: object): DataType | null {
  if (value instanceof Date) return { kind: "timestamp", unit: "us", timezone: null };
  if (value instanceof Uint8Array) return { kind: "binary", large: false };
  if (isTypedArray(value)) return listOf(elementType(value));
  if (Array.isArray(value)) return inferElements(value, listOf);
  if (value instanceof Map) {
    return inferElements([...value.keys()], (key) => inferElements([...value.values()], (held) => mapOf(key, held)));
  }
  return isPlain(value) ? inferStruct(value) : null;
}

/** The type built around the elements' type: that of the first one that is not null. */
function inferElements(values: readonly unknown[], build: (type: DataType) => DataType | null): DataType | null {
  const first = values.find((value) => value !== null && value !== undefined);
  const type = inferType(first);
  return type === null ? null : build(type);
}

function listOf(type: DataType): DataType {
  return { kind: "list", child: { name: "item", type, nullable: true }, large: false };
}

function mapOf(key: DataType, value: DataType): DataType {
  return {
    kind: "map",
    key: { name: "key", type: key, nullable: false },
    value: { name: "value", type: value, nullable: true },
  };
}

function inferStruct(value: object): DataType | null {
  const children: Field[] = [];
  for (const [name, held] of Object.entries(value)) {
    const type = inferType(held);
    if (type === null) return null;
    children.push({ name, type, nullable: true });
  }
  return children.length === 0 ? null : { kind: "struct", children };
}

/** An object of fields, of a class or not; not one of the objects that are values of another kind. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value) || ArrayBuffer.isView(value)) return false;
  return !(
    value instanceof Date ||
    value instanceof Map ||
    value instanceof Set ||
    value instanceof Promise ||
    value instanceof RegExp ||
    value instanceof Error ||
    value instanceof ArrayBuffer ||
    value instanceof WeakMap ||
    value instanceof WeakSet ||
    Symbol.iterator in value
  );
}
